"""Sum of the contributions to an element, in raster order of the pooled elements, from +0."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, count
from merp.hdl.cnn_merp.upsampling.unpool_cell import unpool_cell
from merp.hdl.cnn_merp.upsampling.unpool_ports import (
    CellRead,
    CellWrite,
    UnpoolRead,
    UnpoolWrite,
)
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@block
def _order(
    clk: Bit,
    terms: Word,
    row_oldest: Word,
    column_oldest: Word,
    ordered: Word,
    design: UnpoolDesign,
) -> Any:
    """Put terms into raster order; +0 is added to the first term in passing.

    +0 + x equals x, except that zeros (including subnormals) become +0 and a NaN becomes canonical.
    Therefore no adder is needed.
    """
    overlap, width, frac_bits = design.overlap, design.fmt.width, design.fmt.frac_bits
    sign_at, exp_max, nan = width - 1, design.fmt.exp_max, design.fmt.nan
    reach = 2 * overlap
    size = overlap * overlap

    @always(clk.posedge)
    def order() -> None:
        row = intbv(0, min=0, max=reach)
        column = intbv(0, min=0, max=reach)
        index = intbv(0, min=0, max=size)
        word = intbv(0)[width:]
        for i in range(overlap):
            for j in range(overlap):
                row[:] = row_oldest
                row[:] = row + i
                if row >= overlap:
                    row[:] = row - overlap
                column[:] = column_oldest
                column[:] = column + j
                if column >= overlap:
                    column[:] = column - overlap
                index[:] = row * overlap + column
                word[:] = terms[index]
                if i == 0 and j == 0:
                    if word[sign_at:frac_bits] == 0:
                        word[:] = 0
                    elif word[sign_at:frac_bits] == exp_max and word[frac_bits:] != 0:
                        word[:] = nan
                ordered[i * overlap + j].next = word

    return order


@block
def _copy(x: Word, y: Word) -> Any:
    @always_comb
    def copy() -> None:
        y.next = x

    return copy


@entity
def unpool_sum(
    clk: Bit, write: UnpoolWrite, read: UnpoolRead, average: Bit, y: Word, design: UnpoolDesign
) -> Any:
    """Read all memories and add their contributions.

    write    in   a pooled element for one of the memories
    read     in   elements to read, and those that contribute
    average  in   average pooling
    y        out  delta of an element

    Latency: sum_latency - 1 from read to y. Throughput: a sum per cycle. Reset: none.
    """
    overlap, width, latency = design.overlap, design.fmt.width, design.add_latency
    size = overlap * overlap
    terms = [bits(width) for _ in range(size)]
    row_oldest, column_oldest = count(overlap - 1), count(overlap - 1)
    row_oldest_1, column_oldest_1 = count(overlap - 1), count(overlap - 1)
    ordered = [bits(width) for _ in range(size)]
    cells = [
        unpool_cell(
            clk,
            write=CellWrite(write.enable(a * overlap + b), write),
            read=CellRead(read, a, b, design),
            average=average,
            term=terms[a * overlap + b],
            design=design,
        )
        for a in range(overlap)
        for b in range(overlap)
    ]

    @always(clk.posedge)
    def follow() -> None:
        row_oldest_1.next = read.row_oldest
        column_oldest_1.next = read.column_oldest
        row_oldest.next = row_oldest_1
        column_oldest.next = column_oldest_1

    order = _order(
        clk,
        terms=terms,
        row_oldest=row_oldest,
        column_oldest=column_oldest,
        ordered=ordered,
        design=design,
    )
    if size == 1:
        return cells, follow, order, _copy(x=ordered[0], y=y)

    waited = [bits(width) for _ in range(size)]
    totals = [ordered[0], *(bits(width) for _ in range(size - 2)), y]
    waits = [
        delay(clk, d=ordered[i], q=waited[i], cycles=(i - 1) * latency) for i in range(2, size)
    ]
    adders = [
        fp_add(
            clk,
            a=totals[i - 1],
            b=waited[i] if i > 1 else ordered[1],
            y=totals[i],
            fmt=design.fmt,
            latency=latency,
        )
        for i in range(1, size)
    ]
    return cells, follow, order, waits, adders
