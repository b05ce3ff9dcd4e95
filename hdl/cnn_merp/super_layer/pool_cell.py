"""One memory of partial pooling results and the unit that combines them with the next element."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.arithmetic.coded_max import coded_max
from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.arithmetic.fp_max import fp_max
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.super_layer.super_layer_ports import PoolUpdate, element_width
from merp.hdl.conversion.entity import Bit, Word
from merp.models.base.state_field import position_bits
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def pool_cell(
    clk: Bit,
    update: PoolUpdate,
    element: Word,
    average: Bit,
    y: Word,
    index: int,
    design: EngineDesign,
    codes: Word = None,
) -> Any:
    """Keep one partial result per address, and combine it with an element.

    This is a part of pool_unit, not an entity: because of its index into update, each instance
    would be a separate entity.

    update   in   bits and address of memory index
    element  in   two cycles after read: combined with the partial result; the first element begins
                  a result
    average  in   average pooling, else maximum (ignored in a design without average pooling)
    y        out  pool_latency cycles after read: the larger of the two, or their sum
    codes    in   two cycles after read: position of the element in the window of each memory

    The output of the memory and the comparison have a cycle each. y is written in the cycle that
    ends pool_latency cycles after the read. This is the first cycle in which beat_issue may read
    the same word again. That read finds the old memory content, and update.bypass replaces it by
    the written value. Any later read finds the value in the memory. In a design that writes masks,
    the position of a maximum is above it, in y as well. Throughput: one per cycle; an address may
    be read again pool_latency cycles later. Reset: none.
    """
    width, span = design.fmt.width, update.address_width
    low = index % design.pool_overlap * span
    high = low + span
    kept = element_width(design)
    memory = [bits(kept) for _ in range(design.pool_words)]
    found, written, partial = bits(kept), bits(kept), bits(kept)
    larger = bits(kept) if design.average else y

    @always(clk.posedge)
    def access() -> None:
        if update.store[index]:
            memory[update.store_address[high:low]].next = y
        if update.read[index]:
            found.next = memory[update.address[high:low]]
        written.next = y
        if update.bypass[index]:
            partial.next = written
        else:
            partial.next = found

    if design.state:
        size = position_bits(design.pool_window)
        code = codes((index + 1) * size, index * size)
        compare = coded_max(fresh=update.fresh(index), a=partial, b=element, code=code, y=larger)
        value = partial(width, 0)
    else:
        compare = fp_max(fresh=update.fresh(index), a=partial, b=element, y=larger)
        value = partial

    if not design.average:
        return access, compare

    maximum = bits(kept)
    operand = bits(width)
    total = bits(width)
    nothing = design.fmt.sign_bit  # -0 plus x is x, also if x is +0 or -0

    @always_comb
    def begin() -> None:
        if update.fresh[index]:
            operand.next = nothing
        else:
            operand.next = value

    @always_comb
    def combine() -> None:
        if average:
            y.next = total
        else:
            y.next = maximum

    return (
        access,
        begin,
        fp_add(clk, a=operand, b=element, y=total, fmt=design.fmt, latency=design.add_latency),
        compare,
        delay(clk, d=larger, q=maximum, cycles=design.add_latency),
        combine,
    )
