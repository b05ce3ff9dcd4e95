"""Sum of products with rounding adders: the paper's circuit (CNN-MERP section V.C, figure 9)."""

from __future__ import annotations

from typing import Any, Protocol

from myhdl import ConcatSignal, always_comb

from merp.hdl.arithmetic.fp_mul import fp_mul
from merp.hdl.arithmetic.fp_tree import fp_tree
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat


class TreeDesign(Protocol):
    """The part of a machine's design that the sum of products follows."""

    @property
    def fmt(self) -> FloatFormat:
        """Number format of every element."""

    @property
    def taps(self) -> int:
        """The number of products, k*k."""

    @property
    def window_width(self) -> int:
        """Bits of a window of k*k elements."""

    @property
    def mul_latency(self) -> int:
        """Cycles of a multiplier."""

    @property
    def add_latency(self) -> int:
        """Cycles of an adder."""


@entity
def cu_tree(clk: Bit, window: Word, kernel: Word, y: Word, design: TreeDesign) -> Any:
    """Multiply k*k pairs of elements and add the products in a balanced tree.

    window, kernel: k*k elements each, tap 0 (row 0, column 0) in the lowest bits. y: the rounded
    sum of the rounded products. Latency: cu_latency = mul_latency + ceil(log2(k*k)) * add_latency.
    Throughput: one sum per cycle. Reset: none.
    """
    width, taps = design.fmt.width, design.taps
    if taps == 1:
        return fp_mul(
            clk, a=window, b=kernel, y=y, fmt=design.fmt, latency=design.mul_latency, late=True
        )

    products = [bits(width) for _ in range(taps)]
    terms = bits(design.window_width)
    joined = ConcatSignal(*reversed(products))

    multipliers = [
        fp_mul(
            clk,
            a=window((tap + 1) * width, tap * width),
            b=kernel((tap + 1) * width, tap * width),
            y=products[tap],
            fmt=design.fmt,
            latency=design.mul_latency,
            late=True,  # the kernel element is the output of its memory
        )
        for tap in range(taps)
    ]

    @always_comb
    def join() -> None:
        terms.next = joined

    tree = fp_tree(clk, terms=terms, y=y, count=taps, fmt=design.fmt, latency=design.add_latency)
    return multipliers, join, tree
