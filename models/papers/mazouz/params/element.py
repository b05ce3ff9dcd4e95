"""The convolution element of Mazouz and Bridges: its elaboration parameters and its cycles.

Its line buffer stores k - 1 lines. In each cycle, k x k multipliers process one window, and a tree
adds the products. The paper inserts blanks at the ends of lines and after the map. Here, masks
replace the blanks.
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
"""Smallest and largest values of the fields that are whole numbers."""

WINDOW = 1
"""Cycles from a beat to its masked window in a register."""

LEAVE = 2
"""Cycles from a sum to its word at the port: the memory and the head register of the FIFO."""


@dataclass(frozen=True, kw_only=True)
class ElementDesign:
    """Elaboration parameters of one element.

    Attributes:
        fmt: number format of every element of a map or kernel.
        k: kernel size.
        max_rows, max_columns: the largest map, input or output.
        mul_latency, add_latency: cycles of a multiplier and of an adder, as in a CU's tree.

    Raises:
        ValueError: a value is out of range. The message names the key and the allowed range.
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
        """Number of multipliers, k*k."""
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
        """Places for the sums that are computed before the place of the first one is free again."""
        return WINDOW + self.cu_latency + CREDIT_RETURN


@dataclass(frozen=True)
class ElementRun:
    """A run of one map of ``shape`` on an element of ``design``.

    The element has no ReLU and no pooling. The map is streamed as a grid of lines. A line is as
    wide as the map or the output, whichever is wider. The arriving beat is the last tap of the
    window.

    Raises:
        ValueError: the shape does not fit the design. The message names the key and the allowed
            range.
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
        """Beats of the map's lines, including blanks at their ends."""
        return self.shape.rows * self.grid_columns

    @property
    def lead(self) -> int:
        """Beats before the beat that completes the first window."""
        k = self.design.k
        return (k - 1 - self.shape.top) * self.grid_columns + k - 1 - self.shape.left

    @property
    def beats(self) -> int:
        """Beats up to the beat that completes the last window, including blanks after the map.

        For a map of H x W elements with p zeros on every side, in lines of C beats, they are
        ``(H + p - 1) C + W + p``. For 3 x 3 and p = 1 this is ``W H + W + 1``.
        """
        return self.lead + (self.shape.out_rows - 1) * self.grid_columns + self.shape.out_columns

    @property
    def cycles(self) -> int:
        """Cycles from the first word of the map to the last word of the output, both included.

        The count is exact if neither stream waits.
        """
        return self.beats + self.design.latency
