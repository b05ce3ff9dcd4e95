"""Exact sum of the aligned products, each of which still has one unit to add.

To round a product, the bit that its shift lost last is added as a unit. An adder can add such a
unit through its carry-in. It adds the unit of one term and passes on the unit of the other. Every
partial sum is therefore a value and one unit, and rounding costs nothing.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, concat, intbv, modbv

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.fused import GROUP


@block
def _add(clk: Bit, a: Word, b: Word, y: Word) -> Any:
    """Add two terms of value and unit: a finished sum, and a term that is being shifted.

    a + (value of b) + 1 at the place of the unit carries the unit of a into the value. The
    statement is a difference, so that synthesis keeps a where a carry chain needs a signal of its
    own.
    """
    width, top_a, top_b = len(y), len(a) - 1, len(b) - 1

    @always(clk.posedge)
    def add() -> None:
        left = intbv(0)[width:]
        right = intbv(0)[width:]
        value = modbv(0)[width:]
        if a[top_a]:
            left[:] = ~left
        if not b[top_b]:
            right[:] = ~right
        left[top_a:] = a[top_a:]
        right[top_b:] = ~b[top_b:]
        right[0] = True
        value[:] = left - right
        y.next = concat(value[width:1], b[0])

    return add


@block
def _copy(terms: Word, total: Word) -> Any:
    @always_comb
    def copy() -> None:
        total.next = terms

    return copy


@entity
def fused_sum(clk: Bit, terms: Word, total: Word, count: int) -> Any:
    """Add terms as integers.

    terms  in   count words, term 0 lowest: a value in two's complement, and below it a unit to add
    total  out  the sum in the same format, one bit wider for each doubling of the count

    In each group of four, terms 2 and 3 arrive one and two cycles later than terms 0 and 1. The
    last term of an odd count arrives three cycles later. The last step of a shift and an addition
    to a finished sum thus share their LUTs. Latency: sum_latency. Throughput: one per cycle. Reset:
    none.
    """
    if count == 1:
        return _copy(terms=terms, total=total)
    width = len(terms) // count
    term = [terms((i + 1) * width, i * width) for i in range(count)]
    alone = [term.pop()] if count % GROUP == 1 else []
    nodes = []
    level = []
    for first in range(0, len(term), GROUP):
        partial = term[first]
        for j in range(1, GROUP):
            last = count == GROUP and j == GROUP - 1
            y = total if last else bits(width + j.bit_length())
            nodes.append(_add(clk, a=partial, b=term[first + j], y=y))
            partial = y
        level.append(partial)
    level[1:1] = alone
    width += 2
    while len(level) > 1:
        width += 1
        sums = []
        for j in range(0, len(level) - 1, 2):
            y = total if len(level) == 2 else bits(width)
            nodes.append(_add(clk, a=level[j], b=level[j + 1], y=y))
            sums.append(y)
        if len(level) % 2:
            waiting = bits(len(level[-1]))
            nodes.append(delay(clk, d=level[-1], q=waiting, cycles=1))
            sums.append(waiting)
        level = sums
    return nodes
