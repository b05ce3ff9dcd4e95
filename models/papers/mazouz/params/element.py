"""The convolution element of Mazouz and Bridges: what is fixed at elaboration, and its cycles.

Its line buffer keeps k - 1 lines, k x k multipliers take a window each cycle, a tree adds. What the
paper blanks at the ends of lines and behind the map is masked here.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.formats import BFLOAT16, FloatFormat
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.base.shape import Shape
from merp.models.base.tap_line import TapLine
from merp.models.base.whole_numbers import check_ranges

RANGES = {
    "k": (2, 11), "max_rows": (1, 4096), "max_columns": (1, 4096), "mul_latency": (1, 3),
    "add_latency": (1, 5),
}  # fmt: skip
"""Least and largest value of the fields that are whole numbers."""

WINDOW = 1
"""Cycles from a beat to its masked window in a register."""

LEAVE = 2
"""From a sum to its word at the port: memory, head register."""


@dataclass(frozen=True, kw_only=True)
class ElementDesign:
    """Elaboration parameters of one element.

    Attributes:
        fmt: number format of every element of a map or kernel.
        k: kernel size.
        max_rows, max_columns: the largest map, input or output.
        mul_latency, add_latency: cycles of a multiplier and of an adder, as of a CU's tree.

    Raises:
        ValueError: a value is out of range; the message names the key and what is allowed.
    """

    fmt: FloatFormat = BFLOAT16
    k: int
    max_rows: int
    max_columns: int
    mul_latency: int = 3
    add_latency: int = 4

    def __post_init__(self) -> None:
        """Check every field against its range."""
        check_ranges(self, RANGES)

    @property
    def taps(self) -> int:
        """Multipliers, k*k."""
        return self.k * self.k

    @property
    def window_width(self) -> int:
        """Bits of a window and of a kernel."""
        return self.taps * self.fmt.width

    @property
    def line(self) -> TapLine:
        """The line buffer and its taps."""
        return TapLine(k=self.k, width=self.fmt.width, max_columns=self.max_columns)

    @property
    def cu_latency(self) -> int:
        """Cycles from a registered window to its registered sum of products."""
        return self.mul_latency + (self.taps - 1).bit_length() * self.add_latency

    @property
    def latency(self) -> int:
        """Cycles from the beat that completes a window to its sum at the port."""
        return WINDOW + self.cu_latency + LEAVE

    @property
    def fifo_words(self) -> int:
        """Places for sums: as many as are on their way before the first one's place is free."""
        return WINDOW + self.cu_latency + CREDIT_RETURN


@dataclass(frozen=True)
class ElementRun:
    """One map of ``shape`` through an element of ``design``.

    ReLU and pooling are none of the element's. The map streams over a grid of lines as wide as the
    wider of it and of the output, and the window's last tap is at the beat that comes.

    Raises:
        ValueError: the shape is not for the design; the message names the key and what is allowed.
    """

    shape: Shape
    design: ElementDesign

    def __post_init__(self) -> None:
        """Check the shape against the design."""
        shape, design = self.shape, self.design
        for key, value, allowed in (
            ("k", shape.k, design.k), ("stride", shape.stride, 1), ("n", shape.n, 1),
            ("m", shape.m, 1),
        ):  # fmt: skip
            if value != allowed:
                raise ValueError(f"{key} must be {allowed} on this element, not {value}")
        for key, value, most in (
            ("rows", max(shape.rows, shape.out_rows), design.max_rows),
            ("columns", self.grid_columns, design.max_columns),
        ):
            if value > most:
                raise ValueError(
                    f"{key} of the map and of its output must not exceed {most}, not {value}"
                )

    @property
    def grid_columns(self) -> int:
        """Beats of a line."""
        return max(self.shape.columns, self.shape.out_columns)

    @property
    def grid_beats(self) -> int:
        """Beats of the map's lines, blanks at their ends included."""
        return self.shape.rows * self.grid_columns

    @property
    def lead(self) -> int:
        """Beats before the one that completes the first window."""
        k = self.design.k
        return (k - 1 - self.shape.top) * self.grid_columns + k - 1 - self.shape.left

    @property
    def beats(self) -> int:
        """Beats up to the one that completes the last window, blanks behind the map included.

        (H + p - 1) C + W + p, where the map has H x W elements in lines of C beats and p zeros on
        every side; W H + W + 1 for 3 x 3 and p = 1.
        """
        return self.lead + (self.shape.out_rows - 1) * self.grid_columns + self.shape.out_columns

    @property
    def cycles(self) -> int:
        """From the map's first word to the output's last, both included, where neither waits."""
        return self.beats + self.design.latency
