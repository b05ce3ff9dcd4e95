"""A design: the parameters fixed at elaboration (one bitstream).

CNN-MERP section VI.A: a new kernel size needs a new bitstream, new sizes of a layer do not. Those
sizes are the run-time registers of ``registers.py``. This file defines their maxima.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, TypeVar

from merp.models.base import fused
from merp.models.base.elaboration import elaboration
from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.latencies import ADD_LATENCY, MUL_LATENCY
from merp.models.base.storage import Storage, Stores
from merp.models.base.summation import Summation
from merp.models.base.whole_numbers import check_ranges

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ARITHMETIC = (
    "fmt", "cu_kind", "fused_dsp", "operand_precision", "fused_window", "accumulator_precision",
    "mul_latency", "add_latency", "storage",
)  # fmt: skip
"""Fields that all phases of a layer have in common."""

PORTS = (1, 2, 4, 8)
"""Allowed elements per beat of the streams of kernels and biases, and of maps and deltas."""

OPTIONS = (
    "folded", "kernel_port", "partial", "sided", "widened", "map_port", "added", "hanging",
    "far", "storage", "operand_precision", "relu6", "leaky",
)  # fmt: skip

"""Fields that were added later. The text that identifies an elaboration, also in the hardware,
omits them while they have their defaults.
"""


RANGES = {
    "k": (1, 11), "n_cu": (1, 512), "r": (1, 16), "p": (1, 2), "d": (1, 3),
    "mul_latency": (1, 3), "add_latency": (1, 5), "kernel_words": (1, 1 << 20),
    "groups": (1, 1 << 16), "row_words": (1, 1 << 20), "max_size": (1, 4096),
    "max_maps": (1, 1 << 16), "max_images": (1, 1 << 16), "max_stride": (1, 16),
    "fifo_words": (1, 1 << 16), "pool_window": (1, 16), "pool_overlap": (1, 4),
    "pool_words": (1, 1 << 20),
}  # fmt: skip
"""Least and largest value of the fields without further conditions."""


Count = TypeVar("Count", int, "NDArray[np.int64]")
"""A count, or an array of them."""


def _ceil_log2(value: int) -> int:
    return (value - 1).bit_length()


_summation = lru_cache(maxsize=256, typed=True)(
    Summation
)  # a search of plans requests few different values, and often


@dataclass(frozen=True, kw_only=True, repr=False)
class EngineDesign(Stores):
    """Elaboration parameters of one engine.

    Raises:
        ValueError: a value is out of range; the message names the key and the allowed values.
    """

    fmt: Annotated[FloatFormat, "number format of every element"] = BINARY32
    k: Annotated[int, "kernel size; k x k banks and k x k multipliers in each CU"]
    n_cu: Annotated[int, "number of computational units"]
    r: Annotated[int, "ReLU and pooling units (elements handled per beat)"] = 2
    p: Annotated[
        int,
        "output positions interleaved (1 or 2), so that sums revisit an accumulator late enough",
    ] = 1
    d: Annotated[int, "rings of k input rows kept in the banks (1 to 3)"] = 1
    cu_kind: Annotated[
        str,
        "how a CU sums its k*k products; ``tree`` is the paper's circuit, ``fused`` the one that "
        "fits its FPGA (binary32 only)",
    ] = "tree"
    fused_dsp: Annotated[int, "DSP blocks per product of a fused CU, 1 or 2"] = 1
    fused_window: Annotated[
        int,
        "bits of a product of a fused CU, 28 to 32, with narrower factors 16 to 32",
    ] = 32
    accumulator_precision: Annotated[
        int,
        "bits of a significand, hidden bit included, in the accumulators behind fused CUs: 24 "
        "(binary32) to 28",
    ] = 24
    ku_kind: Annotated[
        str,
        "how a CU of the kernel update sums: ``position`` is the paper's circuit, an adder per "
        "tap; ``row`` rounds once per row (fused CUs only)",
    ] = "position"
    ku_lanes: Annotated[int, "gradients that a CU of kind ``row`` adds to per cycle"] = 1
    mul_latency: Annotated[int, "cycles of a multiplier, 1 to 3"] = MUL_LATENCY
    add_latency: Annotated[int, "cycles of an adder, 1 to 5"] = ADD_LATENCY
    kernel_words: Annotated[int, "kernel memory per CU, in words of k*k elements: the largest n*G"]
    groups: Annotated[int, "the largest G = ceil(m / n_cu)"]
    row_words: Annotated[
        int,
        "words of one kept row in a bank, of map_port elements each: the largest ceil(columns / "
        "k) * ceil(n / map_port)",
    ]
    max_size: Annotated[int, "the largest number of rows or columns of an input map"]
    max_maps: Annotated[int, "the largest n (input maps)"]
    max_images: Annotated[int, "the largest number of images in one run"] = 256
    max_stride: Annotated[int, "the largest stride, of convolution and pooling"] = 4
    fifo_words: Annotated[
        int,
        "finished sums waiting for ReLU and pooling, in words of n_cu elements",
    ]
    pool_window: Annotated[int, "the largest pooling window, 1 when there is no pooling"] = 1
    pool_overlap: Annotated[
        int,
        "the largest ceil(window / stride) of pooling, in one direction",
    ] = 1
    pool_words: Annotated[
        int,
        "partial pooling results of one pooling row in one pool memory: the largest ceil(pooled "
        "columns / pool_overlap) * beats per position",
    ] = 1
    average: Annotated[
        bool,
        "whether average pooling is built (adders and a multiplier); max always is",
    ] = False
    state: Annotated[
        bool,
        "whether the ReLU/pooling mask for backward propagation is written, as a separate stream",
    ] = False
    folded: Annotated[bool, "whether fully connected layers run folded onto the k x k taps"] = False
    kernel_port: Annotated[
        int,
        "elements per beat of the streams of kernels, biases, velocities and gradients: 1, 2, 4 "
        "or 8",
    ] = 1
    partial: Annotated[
        bool,
        "whether sums can start from a stream of partial sums and be output as one, so that a "
        "layer can run in parts",
    ] = False
    sided: Annotated[
        bool,
        "whether the padding left of the maps may differ from that above them",
    ] = False
    widened: Annotated[
        bool,
        "whether layers with kernels smaller than k run on the k x k taps",
    ] = False
    map_port: Annotated[
        int,
        "elements per beat of the streams of maps, deltas and partial sums: 1, 2, 4 or 8",
    ] = 1
    added: Annotated[
        bool,
        "whether the output of another layer can be added to the sums, from a stream",
    ] = False
    hanging: Annotated[bool, "whether pooling windows may cross the edges of the sums"] = False
    far: Annotated[
        bool,
        "whether several pooling windows may cross an edge of the sums, by their stride or more",
    ] = False
    storage: Annotated[
        Storage | None,
        "formats of the tensors in memory and on the streams; None: all are ``fmt``",
    ] = None
    operand_precision: Annotated[
        int,
        "significand bits, with the hidden bit, of the factors of fused CUs: 24 (binary32), 11 "
        "(binary16) or 8 (bfloat16; two products share a DSP block)",
    ] = 24
    relu6: Annotated[bool, "whether ReLU can also stop at 6"] = False
    leaky: Annotated[bool, "whether ReLU can also be leaky (a multiplier per lane)"] = False

    def __repr__(self) -> str:
        """Return the text that identifies the elaboration."""
        return elaboration("Design", self, OPTIONS)

    def __post_init__(self) -> None:
        """Check every field against its range."""
        check_ranges(self, RANGES)
        if self.summation.kind == "fused" and self.fmt != BINARY32:
            raise ValueError("cu_kind fused is for binary32 only")
        lanes = self.taps if self.ku_kind == "row" else 1
        if not isinstance(self.ku_lanes, int) or not 1 <= self.ku_lanes <= lanes:
            raise ValueError(
                f"ku_lanes must be a whole number from 1 to {lanes} with ku_kind {self.ku_kind}, "
                f"not {self.ku_lanes}"
            )
        for key in ("kernel_port", "map_port"):
            port = getattr(self, key)
            if port not in PORTS:
                allowed = ", ".join(str(each) for each in PORTS)
                raise ValueError(f"{key} must be one of {allowed}, not {port}")
            if port > 1 and self.fmt.width % 8:
                raise ValueError(
                    f"{key} {port}: byte enables mark the valid part of a beat, and an element "
                    f"has {self.fmt.width} bits"
                )
        if self.map_port > 1 and self.folded and self.k % 2 == 0:
            raise ValueError(
                f"map_port {self.map_port} with fully connected layers: k must be odd, not {self.k}"
            )
        if self.storage is not None:
            self.storage.check(self.fmt)
        if self.far and not self.hanging:
            raise ValueError("far is for designs with hanging")
        if self.r > self.n_cu:
            raise ValueError(f"r must not exceed n_cu ({self.n_cu}), not {self.r}")
        if self.fifo_words < self.groups:
            raise ValueError(
                f"fifo_words must hold one position ({self.groups} words), not {self.fifo_words}"
            )

    @property
    def summation(self) -> Summation:
        """The arithmetic of a CU, for the golden models."""
        return _summation(
            kind=self.cu_kind,
            dsp=self.fused_dsp,
            operand=self.operand_precision,
            window=self.fused_window,
            precision=self.accumulator_precision,
            ku_kind=self.ku_kind,
            taps=self.taps,
            ku_images=self.image_columns,
        )

    @property
    def accumulator_format(self) -> FloatFormat:
        """Format of a CU's sum of products and of the partial sums."""
        return self.summation.accumulator_format(self.fmt)

    @property
    def sum_format(self) -> FloatFormat:
        """Format of finished sums at the output of the CUs: not rounded yet if partial sums are
        output.
        """
        return self.accumulator_format if self.partial else self.fmt

    @property
    def partial_width(self) -> int:
        """Bits of a word of the streams of partial sums, in whole bytes."""
        return -(-self.accumulator_format.width // 8) * 8

    @property
    def continues(self) -> bool:
        """Whether sums can start from a stream: partial sums, or maps that are added."""
        return self.partial or self.added

    @property
    def origins(self) -> int:
        """Words per CU at which sums can start: biases, or words of 2p positions from a stream."""
        return self.groups * (2 * self.p if self.continues else 1)

    @property
    def origin_format(self) -> FloatFormat:
        """Format of the words at which sums start."""
        return self.accumulator_format if self.continues else self.fmt

    @property
    def added_latency(self) -> int:
        """Cycles from a word of an added map to the word plus its bias, at the head of a stream."""
        return 1 + self.add_latency + 2

    @property
    def taps(self) -> int:
        """Multipliers of a CU, k*k."""
        return self.k * self.k

    @property
    def window_width(self) -> int:
        """Bits of a window and of a kernel-memory word."""
        return self.taps * self.fmt.width

    @property
    def kernel_beat(self) -> int:
        """Elements of kernels that are loaded or updated in a cycle, at most a kernel."""
        return min(self.kernel_port, self.taps)

    @property
    def beside(self) -> int:
        """Bits of a factor that an update multiplies outside its DSP blocks.

        An update has as many products as a beat has elements. If fused products use one DSP block,
        a DSP48E1 of 25 x 18 bits, these products do, too. A single product keeps two blocks.
        """
        narrow = self.cu_kind == "fused" and self.fused_dsp == 1 and self.kernel_port > 1
        return 8 if narrow else 0

    @property
    def delta_beat(self) -> int:
        """Deltas that a kernel update reads in a cycle; a word of n_cu has whole beats."""
        return math.gcd(self.map_port, self.n_cu)

    def map_words(self, maps: Count) -> Count:
        """Return the words of the banks for the elements of a pixel, with map_port elements
        each.
        """
        return -(-maps // self.map_port)

    @property
    def tree_levels(self) -> int:
        """Adder levels of a CU's tree."""
        return _ceil_log2(self.taps)

    @property
    def gradient_lanes(self) -> int:
        """Gradients that a CU of the kernel update adds to in a cycle."""
        return self.ku_lanes if self.ku_kind == "row" else self.taps

    @property
    def image_columns(self) -> int:
        """Largest number of images that form the columns of a row, in the update of folded layers
        by row.

        It equals the words of gradients that are read out of each unit, so that no image waits.
        """
        return -(-self.taps // self.ku_lanes) if self.ku_kind == "row" else 1

    @property
    def gradient_words(self) -> int:
        """Gradient memory per CU, in words of ``gradient_lanes * gradient_banks`` elements."""
        return self.kernel_words * -(-self.taps // (self.gradient_lanes * self.gradient_banks))

    @property
    def gradient_banks(self) -> int:
        """Memories of each lane's gradients, read in parallel, as many as ``gradient_read``
        needs.
        """
        return -(-self._least_read // self.gradient_lanes)

    @property
    def gradient_read(self) -> int:
        """Gradients of a kernel that the update reads in a cycle.

        With whole reads, a kernel takes no longer than its beats: a read has enough elements to
        fill them.
        """
        if self.kernel_port == 1:
            return 1
        by_banks = self.gradient_lanes * self.gradient_banks
        return by_banks if self.ku_kind == "row" else self._least_read

    @property
    def gradient_reads(self) -> int:
        """Reads of a kernel's gradients; the last one may have fewer elements."""
        return -(-self.taps // self.gradient_read)

    @property
    def _least_read(self) -> int:
        return -(-self.taps // max(1, self.taps // self.kernel_port)) if self.kernel_port > 1 else 1

    @property
    def cu_latency(self) -> int:
        """Cycles from a registered window (and kernel word) to its registered sum of products."""
        if self.cu_kind == "fused":
            return fused.latency(self.taps)
        return self.mul_latency + self.tree_levels * self.add_latency

    @property
    def accumulate_latency(self) -> int:
        """L: cycles after a slot before the next slot may use the same accumulator.

        L is the adder, plus one cycle for the read of the accumulator memory (its write is
        forwarded).
        """
        return self.add_latency + 1

    @property
    def round_latency(self) -> int:
        """Cycles from a finished sum in the accumulator's format to the element: 0 if equal."""
        return int(self.accumulator_format != self.fmt)

    @property
    def array_latency(self) -> int:
        """Cycles from a slot at the CU array's input to its finished sum at the output.

        One cycle reads the kernel memory (and loads the window register). Then follow the CU, the
        accumulator's adder, and the rounding of a finished sum.
        """
        return 1 + self.cu_latency + self.add_latency + self.round_latency

    @property
    def kernel_read_latency(self) -> int:
        """Cycles from an element's place in the CUs to the element, if kernels are read back.

        They are memory, tap and CU. Fused CUs are addressed a cycle later, because they store
        decoded elements.
        """
        return 3 + 2 * (self.cu_kind == "fused")

    @property
    def pool_latency(self) -> int:
        """Cycles of one read-modify-write of a pooling unit."""
        return 2 + (self.add_latency if self.average else 0)

    @property
    def leak_latency(self) -> int:
        """Cycles of leaky ReLU in front of pooling, in every run of a design that has it."""
        return self.mul_latency if self.leaky else 0
