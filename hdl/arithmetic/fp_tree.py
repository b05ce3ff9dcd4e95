"""Balanced tree of float adders: the summation order of a computational unit.

Source: CNN-MERP, section V.C and figure 9. The order of the additions is part of the specification:
neighbours are paired level by level, and an odd term passes to the next level.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat


@block
def _copy(terms: Word, y: Word) -> Any:
    @always_comb
    def copy() -> None:
        y.next = terms

    return copy


@entity
def fp_tree(clk: Bit, terms: Word, y: Word, count: int, fmt: FloatFormat, latency: int) -> Any:
    """Add the terms pairwise, level by level.

    terms  in   count floats, term 0 in the lowest bits
    y      out  (t0 + t1) + (t2 + t3) + ..., every + rounded

    The parameter latency is the latency of one adder. Latency: ceil(log2 count) * latency; a single
    term passes through combinationally. Throughput: one sum per cycle. Reset: none.
    """
    if count < 1:
        raise ValueError(f"count must be 1 or more, not {count}")
    if count == 1:
        return _copy(terms=terms, y=y)

    width = fmt.width
    level = [terms((i + 1) * width, i * width) for i in range(count)]
    nodes = []
    while len(level) > 1:
        pairs, odd = divmod(len(level), 2)
        last = pairs + odd == 1
        sums = [y] if last else [bits(width) for _ in range(pairs + odd)]
        for i in range(pairs):
            nodes.append(
                fp_add(clk, a=level[2 * i], b=level[2 * i + 1], y=sums[i], fmt=fmt, latency=latency)
            )
        if odd:
            nodes.append(delay(clk, d=level[-1], q=sums[-1], cycles=latency))
        level = sums
    return nodes
