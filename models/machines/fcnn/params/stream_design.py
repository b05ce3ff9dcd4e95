"""Parameters of the streaming modules of convolutions, fixed at elaboration.

F-CNN section IV: a module has Nk kernels of k x k multipliers. Here Nk = lanes * maps_at_once. Each
beat of a map has one element of each of ``lanes`` images, and each of ``maps_at_once`` kernels
computes with all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.latencies import ADD_LATENCY, MUL_LATENCY
from merp.models.base.summation import StreamSummation
from merp.models.base.tap_line import TapLine
from merp.models.base.whole_numbers import check_ranges

RANGES = {
    "k": (1, 11), "lanes": (1, 32), "maps_at_once": (1, 64), "max_rows": (1, 4096),
    "max_columns": (1, 4096), "max_maps": (1, 1 << 16), "max_step": (1, 4096),
    "max_stride": (1, 16), "mul_latency": (1, 3), "add_latency": (1, 5),
}  # fmt: skip
"""Smallest and largest values of the fields that are whole numbers."""


@dataclass(frozen=True, kw_only=True)
class StreamDesign:
    """Elaboration parameters of the modules of a convolution: its sums and its gradients.

    Attributes:
        fmt: number format of every element.
        k: rows and columns of a kernel.
        lanes: G, images of a beat.
        maps_at_once: m, output maps that a pass computes.
        max_rows, max_columns: of the largest map, input or output.
        max_maps: the largest number of input maps, and of output maps.
        max_step: the largest number of beats of a column, B/G for a batch of B images.
        max_stride: the largest stride.
        mul_latency, add_latency: cycles of a multiplier and of an adder.

    Raises:
        ValueError: a value is out of range. The message names the key and the allowed range.
    """

    fmt: FloatFormat = BINARY32
    k: int
    lanes: int
    maps_at_once: int
    max_rows: int
    max_columns: int
    max_maps: int
    max_step: int
    max_stride: int = 1
    mul_latency: int = MUL_LATENCY
    add_latency: int = ADD_LATENCY

    def __post_init__(self) -> None:
        """Check every field against its range."""
        check_ranges(self, RANGES)

    @property
    def kernels(self) -> int:
        """Number of kernels that compute at once: the paper's Nk."""
        return self.lanes * self.maps_at_once

    @property
    def taps(self) -> int:
        """Multipliers of a kernel, k*k."""
        return self.k * self.k

    @property
    def map_width(self) -> int:
        """Bits of a beat of a map: an element of every lane, lane 0 lowest."""
        return self.lanes * self.fmt.width

    @property
    def sum_width(self) -> int:
        """Bits of a beat of ``maps_at_once`` maps: the beat of the first map is lowest."""
        return self.maps_at_once * self.map_width

    @property
    def window_width(self) -> int:
        """Bits of a window of one lane, and of a kernel."""
        return self.taps * self.fmt.width

    @property
    def line(self) -> TapLine:
        """The line buffer and its taps, for k above 1."""
        return TapLine(
            k=self.k, width=self.fmt.width, lanes=self.lanes, max_step=self.max_step,
            max_columns=self.max_columns,
        )  # fmt: skip

    @property
    def cu_latency(self) -> int:
        """Cycles from a registered window to its registered sum of products."""
        return self.mul_latency + (self.taps - 1).bit_length() * self.add_latency

    @property
    def summation(self) -> StreamSummation:
        """Arithmetic of the sums: trees of products, and gradients in the order of the stream."""
        return StreamSummation(lanes=self.lanes, accumulators=self.accumulators)

    @property
    def accumulators(self) -> int:
        """A, partial gradients of a tap in a lane: an adder is ready again after as many beats."""
        return self.add_latency + 1
