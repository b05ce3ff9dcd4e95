"""A number with its origin as a level, from the most to the least reliable."""

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
    "assumed": "without a source",
}
"""Meaning of each level; the level of a sum is the last level of its terms in this order."""

_ORDER = tuple(LEVELS)


@dataclass(frozen=True)
class Figure:
    """A number with a level.

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
        """Return the sum, with the weaker level."""
        return derived(self.value + other.value, self, other)


def derived(value: float, *of: Figure) -> Figure:
    """Return a number that was computed from others, with the weakest of their levels."""
    return Figure(value, max((each.level for each in of), key=_ORDER.index, default=_ORDER[0]))


def summed(figures: Iterable[Figure]) -> Figure:
    """Return the sum; an empty sum is 0, with the strongest level."""
    terms = tuple(figures)
    return derived(ordered_sum(each.value for each in terms), *terms)
