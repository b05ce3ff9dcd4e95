"""A number that a paper prints, beside what our row gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from merp.models.papers.lists import PaperNumber

REPRODUCED = "reproduced"
DEVIATES = "deviates"
UNCHECKED = "unchecked"


@dataclass(frozen=True)
class Printed:
    """A number, and ours.

    Attributes:
        number: as the list has it. found: ours, None where no row answers.
    """

    number: PaperNumber
    found: float | None

    @property
    def error(self) -> float | None:
        """Of ours, relative to the printed number."""
        return None if self.found is None else self.found / self.number.value - 1

    @property
    def status(self) -> str:
        """What comes of our value: reproduced, deviates, or unchecked without one."""
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
    """Return every number with the row that answers it.

    Raises:
        KeyError: a number's row is not there.
    """
    return tuple(
        Printed(each, None if each.row is None else float(rows[each.row])) for each in numbers
    )
