"""A number and how it came about: what one may rely on, from the surest level to the weakest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from merp.models.base.ordered_sum import ordered_sum

LEVELS: Final = {
    "printed": "copied from a paper",
    "formula": "a paper's formula, evaluated",
    "model": "our own formula or cycle model",
    "simulated": "an event simulator, row by row",
    "rtl": "counted on pins of a simulation whose words equalled the golden model's",
    "synthesised": "Yosys of our hardware",
    "assumed": "nobody said it",
}
"""What each level means; of a sum the last one of its terms in this order stands."""

_ORDER = tuple(LEVELS)


@dataclass(frozen=True)
class Figure:
    """A number.

    Attributes:
        level: of ``LEVELS``.

    Raises:
        ValueError: there is no such level.
    """

    value: float
    level: str

    def __post_init__(self) -> None:
        """Check the level."""
        if self.level not in LEVELS:
            raise ValueError(f"level must be one of {', '.join(LEVELS)}, not {self.level!r}")

    def __add__(self, other: Figure) -> Figure:
        """Return the sum, of the weaker level."""
        return derived(self.value + other.value, self, other)


def derived(value: float, *of: Figure) -> Figure:
    """Return a number that was computed from others: the weakest level of theirs is its own."""
    return Figure(value, max((each.level for each in of), key=_ORDER.index, default=_ORDER[0]))


def summed(figures: Iterable[Figure]) -> Figure:
    """Return the sum; that of nothing is 0, and as sure as a number can be."""
    terms = tuple(figures)
    return derived(ordered_sum(each.value for each in terms), *terms)
