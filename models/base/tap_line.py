"""A tap line: the k x k window of a stream of beats, where each beat follows its left neighbour."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.whole_numbers import check_ranges

RANGES = {
    "k": (2, 11), "width": (1, 64), "lanes": (1, 32), "max_step": (1, 4096),
    "max_columns": (1, 4096),
}  # fmt: skip
"""Least and largest value of each field; a window of 1 x 1 is the beat itself."""


@dataclass(frozen=True, kw_only=True)
class TapLine:
    """Parameters of a tap line, fixed at elaboration.

    Attributes:
        k: rows and columns of a window.
        width: bits of an element.
        lanes: elements of a beat, each of a different map.
        max_step: the largest number of beats of a column.
        max_columns: the largest number of columns.

    Raises:
        ValueError: a value is out of range; the message names the key and the allowed range.
    """

    k: int
    width: int
    lanes: int = 1
    max_step: int = 1
    max_columns: int

    def __post_init__(self) -> None:
        """Check every field against its range."""
        check_ranges(self, RANGES)

    @property
    def beat_width(self) -> int:
        """Bits of a beat."""
        return self.lanes * self.width

    @property
    def window_width(self) -> int:
        """Bits of the windows of all lanes."""
        return self.k * self.k * self.beat_width

    @property
    def row_beats(self) -> int:
        """Largest number of beats of a row."""
        return self.max_columns * self.max_step
