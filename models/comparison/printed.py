"""A number that a paper prints, with our value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from merp.models.papers.lists import PaperNumber

REPRODUCED = "reproduced"
DEVIATES = "deviates"
UNCHECKED = "unchecked"


@dataclass(frozen=True)
class Printed:
    """A printed number, and our value.

    Attributes:
        number: as the list has it.
        found: our value, None if there is none.
    """

    number: PaperNumber
    found: float | None

    @property
    def error(self) -> float | None:
        """Error of our value, relative to the printed number."""
        return None if self.found is None else self.found / self.number.value - 1

    @property
    def status(self) -> str:
        """Status of our value: reproduced, deviates, or unchecked if there is none."""
        error, within = self.error, self.number.within
        if error is None:
            return UNCHECKED
        below, above = error <= within, error >= -within
        near = {"": below and above, "most": below, "least": above}[self.number.bound]
        return REPRODUCED if near else DEVIATES

    @property
    def holds(self) -> bool:
        """Whether the status is the one that the list's class claims."""
        claimed = {"N": DEVIATES, "U": UNCHECKED}.get(self.number.cls, REPRODUCED)
        return self.status == claimed


def answered(numbers: Iterable[PaperNumber], rows: Mapping[str, float]) -> tuple[Printed, ...]:
    """Return every number with our value of it.

    Raises:
        KeyError: the value of a number is missing.
    """
    return tuple(
        Printed(each, None if each.row is None else float(rows[each.row])) for each in numbers
    )
