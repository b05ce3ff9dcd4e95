"""Un-pooling and ReLU' of the backward phases: parameters fixed at elaboration, and sizing.

The layer is the one whose ReLU and pooling are undone. The input is a delta of its pooled size, the
output is a delta of the size of its sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from merp.models.base.elaboration import elaboration
from merp.models.base.formats import BINARY32, FloatFormat
from merp.models.base.shape import Shape
from merp.models.base.state_field import position_bits
from merp.models.base.whole_numbers import check_ranges
from merp.models.machines.cnn_merp.params.design import Count

RANGES = {
    "window": (1, 16), "overlap": (1, 4), "words": (1, 1 << 20), "max_size": (1, 4096),
    "max_maps": (1, 1 << 16), "max_images": (1, 1 << 16), "add_latency": (1, 5),
    "mul_latency": (1, 3),
}  # fmt: skip
"""Least and largest value of the fields that are whole numbers."""


@dataclass(frozen=True, kw_only=True, repr=False)
class UnpoolDesign:
    """Elaboration parameters of un-pooling.

    Attributes:
        fmt: number format of every element.
        window: the largest pooling window, 1 when there is no pooling.
        overlap: the largest ceil(window / stride), in one direction.
        words: pooled elements of one row in one of the overlap x overlap memories: the largest
            ceil(pooled columns / overlap) * maps.
        max_size: the largest number of rows or columns of the output delta.
        max_maps: the largest number of maps.
        max_images: the largest number of images in one run.
        average: whether average pooling is built (a multiplier); max always is.
        hanging: whether windows may extend beyond the edges of the output delta.
        far: whether several windows may extend beyond an edge, by their stride or more.
        leaky: whether ReLU can be leaky (a multiplier; with average pooling a second one).
        add_latency: cycles of an adder, 1 to 5.
        mul_latency: cycles of a multiplier, 1 to 3.

    Raises:
        ValueError: a value is out of range; the message names the key and the allowed range.
    """

    fmt: FloatFormat = BINARY32
    window: int
    overlap: int
    words: int
    max_size: int
    max_maps: int
    max_images: int = 256
    average: bool = False
    hanging: bool = False
    far: bool = False
    leaky: bool = False
    add_latency: int = 4
    mul_latency: int = 3

    def __repr__(self) -> str:
        """The text that identifies the elaboration."""
        return elaboration("UnpoolDesign", self, ("hanging", "far", "leaky"))

    def __post_init__(self) -> None:
        """Check every field against its range."""
        check_ranges(self, RANGES)
        if self.far and not self.hanging:
            raise ValueError("far is for designs with hanging")

    @property
    def code_bits(self) -> int:
        """Bits of the widest position code, at least one."""
        return max(1, position_bits(self.window))

    @property
    def field_bits(self) -> int:
        """Bits of the widest field of the mask: a ReLU bit below a position code."""
        return 1 + self.code_bits

    @property
    def sum_latency(self) -> int:
        """Cycles from the issue of an element to its finished sum.

        Address, memory, contribution and order take one cycle each. Every further contribution has
        its own adder.
        """
        return 4 + (self.overlap**2 - 1) * self.add_latency

    @property
    def leak_latency(self) -> int:
        """Cycles of the multiplier behind the sums: averages are masked there, maxima before."""
        return self.mul_latency if self.leaky and self.average else 0

    @property
    def result_latency(self) -> int:
        """Cycles from the issue of an element to its sum behind the mask."""
        return self.sum_latency + self.leak_latency

    @property
    def factor_latency(self) -> int:
        """Cycles that factors of the deltas add in front of the sums, in every run."""
        return self.mul_latency + 1 if self.average or self.leaky else 0


def unpool_words(columns: Count, maps: Count, overlap: int) -> Count:
    """Return the pooled elements of one row of ``maps`` maps in one overlap x overlap memory."""
    return -(-columns // overlap) * maps


def _needs(shape: Shape, maps: int, overlap: int) -> dict[str, int]:
    """Return the minimum maxima for ``shape``, with memories for ``overlap``."""
    pool = shape.pool
    return {
        "window": pool.window if pool else 1,
        "overlap": -(-pool.window // pool.stride) if pool else 1,
        "words": unpool_words(shape.pooled_columns, maps, overlap) if pool else 1,
        "max_size": max(shape.out_rows, shape.out_columns, shape.pooled_rows, shape.pooled_columns),
        "max_maps": maps,
    }


def size_unpool(
    shapes: Sequence[Shape], maps: Sequence[int] | None = None, **chosen: Any
) -> UnpoolDesign:
    """Return the smallest design that un-pools every one of ``shapes``.

    ``maps`` are those of each shape's delta, its m by default; ``chosen`` are fields of
    ``UnpoolDesign``.

    Raises:
        ValueError: no shapes, different numbers of maps and shapes, or a chosen value out of its
            range.
    """
    if not shapes:
        raise ValueError("a design needs at least one shape")
    layers = list(zip(shapes, [s.m for s in shapes] if maps is None else maps, strict=True))
    overlap = chosen.get("overlap") or max(_needs(s, m, 1)["overlap"] for s, m in layers)
    needed = [_needs(shape, count, overlap) for shape, count in layers]
    sizes: dict[str, Any] = {key: max(need[key] for need in needed) for key in needed[0]}
    sizes["hanging"] = any(shape.hanging for shape in shapes)
    sizes["far"] = any(shape.far for shape in shapes)
    sizes["leaky"] = any(shape.slope for shape in shapes)
    sizes["average"] = any(s.pool is not None and s.pool.kind == "average" for s in shapes)
    return UnpoolDesign(**(sizes | chosen))
