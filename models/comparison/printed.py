"""What a paper prints, beside what its own definitions or our model give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CLASSES: Final = {
    "E": "exact within the printed digits",
    "D": "follows from the paper's own formulas, with the error stated",
    "F": "a formula of ours with a constant that was fitted",
    "P": "a reading that was chosen after seeing the number",
    "N": "does not reproduce",
}
"""Classes of reproduction."""


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A number of a paper.

    Attributes:
        place: where it stands. what: of what it is. unit: as printed.
        printed: the number. found: ours, None where there is none.
        cls: of ``CLASSES``. within: relative error that a test asserts; of class N the error that
            it must exceed, so that a change is seen.
        why: of class N what was tried, of the others what was read in.

    Raises:
        ValueError: there is no such class.
    """

    place: str
    what: str
    unit: str
    printed: float
    found: float | None
    cls: str
    within: float
    why: str = ""

    def __post_init__(self) -> None:
        """Check the class."""
        if self.cls not in CLASSES:
            raise ValueError(f"class must be one of {', '.join(CLASSES)}, not {self.cls!r}")

    @property
    def error(self) -> float | None:
        """Of ours, relative to the printed number."""
        return None if self.found is None else self.found / self.printed - 1

    @property
    def holds(self) -> bool:
        """Whether it is as its class says."""
        near = self.error is not None and abs(self.error) <= self.within
        return near != (self.cls == "N")
