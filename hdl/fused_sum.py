"""Exact sum of the aligned products, each with one unit that is still to be added.

Rounding adds the bit that a shift lost last. An adder has a place for such a unit, its carry-in:
of its two terms' units it takes in one and hands on the other. So every partial sum is a value and
one unit, and rounding costs nothing.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, concat, modbv

from merp.hdl.bundles import bits
from merp.hdl.entity import entity


@block
def _add(clk: Any, a: Any, b: Any, y: Any) -> Any:
    """Add two terms of value and unit; the result is a bit wider."""
    top, width = len(a) - 1, len(a)

    @always(clk.posedge)
    def add() -> None:
        value = modbv(0)[width:]
        value[:] = concat(a[top], a[width:1]) + concat(b[top], b[width:1]) + a[0]
        y.next = concat(value, b[0])

    return add


@block
def _widen(clk: Any, a: Any, y: Any) -> Any:
    top = len(a) - 1

    @always(clk.posedge)
    def widen() -> None:
        y.next = concat(a[top], a)

    return widen


@block
def _copy(terms: Any, total: Any) -> Any:
    @always_comb
    def copy() -> None:
        total.next = terms

    return copy


@entity
def fused_sum(clk: Any, terms: Any, total: Any, count: int) -> Any:
    """Add terms in a balanced tree of integers.

    terms  in   count words, term 0 lowest: a value in two's complement, and below it a unit to add
    total  out  the same of their sum, a bit wider for each level

    Latency: ceil(log2 count); a single term passes. Throughput: one per cycle. Reset: none.
    """
    if count == 1:
        return _copy(terms, total)
    width = len(terms) // count
    level = [terms((i + 1) * width, i * width) for i in range(count)]
    nodes = []
    while len(level) > 1:
        width += 1
        last = len(level) == 2
        sums = [total] if last else [bits(width) for _ in range((len(level) + 1) // 2)]
        for j in range(len(level) // 2):
            nodes.append(_add(clk, level[2 * j], level[2 * j + 1], sums[j]))
        if len(level) % 2:
            nodes.append(_widen(clk, level[-1], sums[-1]))
        level = sums
    return nodes
