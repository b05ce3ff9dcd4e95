"""Parameters of the matrix product of fully connected layers, fixed at elaboration.

F-CNN section IV, equations 15 and 16, and Algorithm 1: C = start + A B in blocks of R x R. A block
of C is a sum of outer products: a column piece of A times a row piece of B.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.latencies import ADD_LATENCY, CREDIT_RETURN, MUL_LATENCY
from merp.models.base.whole_numbers import check_ranges

RANGES = {
    "size": (1, 16), "blocks": (1, 64), "turns": (2, 64), "max_rows": (1, 1 << 20),
    "max_inner": (1, 1 << 20), "max_columns": (1, 1 << 20), "mul_latency": (1, 3),
    "add_latency": (1, 5),
}  # fmt: skip
"""Smallest and largest values of the fields that are whole numbers."""

LEAVE = 2
"""Cycles from a beat of sums to its word at the port: the memory and the head of the FIFO."""

READ = 2
"""Cycles from the place of a beat of sums to the beat: the memories, and the selection."""


@dataclass(frozen=True, kw_only=True)
class ProductDesign:
    """Elaboration parameters of a matrix product.

    Attributes:
        fmt: number format of every element.
        size: R, rows and columns of a block of C.
        blocks: Nk, blocks beside each other that are computed at once.
        turns: A, blocks below each other that take turns. An adder is ready again after
            ``add_latency + 1`` turns, and the row pieces of B arrive in ``blocks`` cycles.
        max_rows, max_inner, max_columns: the largest I, K and O: C is I x O, A is I x K.
        mul_latency, add_latency: cycles of a multiplier and of an adder.

    Raises:
        ValueError: a value is out of range. The message names the key and the allowed range.
    """

    fmt: FloatFormat = BINARY32
    size: int
    blocks: int
    turns: int
    max_rows: int
    max_inner: int
    max_columns: int
    mul_latency: int = MUL_LATENCY
    add_latency: int = ADD_LATENCY

    def __post_init__(self) -> None:
        """Check every field against its range."""
        check_ranges(self, RANGES)
        least = max(self.add_latency + 1, self.blocks)
        if self.turns < least:
            raise ValueError(f"turns must be a whole number from {least} to 64, not {self.turns}")

    @property
    def piece_width(self) -> int:
        """Bits of a column piece of A or C, and of a row piece of B: R elements."""
        return self.size * self.fmt.width

    @property
    def tile_rows(self) -> int:
        """Rows of C that are computed at once: those of ``turns`` blocks."""
        return self.turns * self.size

    @property
    def tile_columns(self) -> int:
        """Columns of C that are computed at once: those of ``blocks`` blocks."""
        return self.blocks * self.size

    @property
    def settle(self) -> int:
        """Cycles from the last column piece of a tile to the first read: its sums are stored."""
        return 1 + self.mul_latency + 1 + self.add_latency

    @property
    def fifo_words(self) -> int:
        """Places for beats of sums."""
        return READ + CREDIT_RETURN
