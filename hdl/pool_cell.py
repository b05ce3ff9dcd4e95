"""One memory of partial pooling results and what combines them with the next element."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.bundles import bits
from merp.hdl.delay import delay
from merp.hdl.entity import entity
from merp.hdl.fp_add import fp_add
from merp.hdl.fp_max import fp_max
from merp.models.params.design import Design


@entity
def pool_cell(
    clk: Any,
    read: Any,
    address: Any,
    element: Any,
    fresh: Any,
    store: Any,
    store_address: Any,
    average: Any,
    y: Any,
    design: Design,
) -> Any:
    """Keep one partial result per address, and combine it with an element.

    read, address         in   fetch a partial result
    element, fresh        in   one cycle later: combine it with element, or begin with element
    y                     out  pool_latency - 1 cycles after read: the larger of the two, or, in a
                               design that has it and with average high, their sum
    store, store_address  in   write y; in the cycle of y

    Latency: pool_latency - 1 cycles from read to y. Throughput: one per cycle; an address may be
    read again pool_latency cycles later. Reset: none.
    """
    width = design.fmt.width
    memory = [bits(width) for _ in range(design.pool_words)]
    partial = bits(width)
    larger = bits(width)
    maximum = bits(width)

    @always(clk.posedge)
    def access() -> None:
        if store:
            memory[store_address].next = y
        if read:
            partial.next = memory[address]

    compare = fp_max(partial, element, larger)

    if not design.average:

        @always_comb
        def begin() -> None:
            if fresh:
                y.next = element
            else:
                y.next = larger

        return access, compare, begin

    chosen = bits(width)
    operand = bits(width)
    total = bits(width)
    nothing = design.fmt.sign_bit  # -0 plus x is x, also where x is +0 or -0

    @always_comb
    def begin_either() -> None:
        if fresh:
            chosen.next = element
            operand.next = nothing
        else:
            chosen.next = larger
            operand.next = partial

    add = fp_add(clk, operand, element, total, design.fmt, design.add_latency)
    wait = delay(clk, chosen, maximum, design.add_latency)

    @always_comb
    def combine() -> None:
        if average:
            y.next = total
        else:
            y.next = maximum

    return access, compare, begin_either, add, wait, combine
