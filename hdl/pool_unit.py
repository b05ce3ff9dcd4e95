"""Pooling unit of one lane: every window that an element lies in, in one beat.

CNN-MERP section IV.F. Windows may overlap: ceil(window / stride)^2 of them share an element, and
each has its partial result in a memory of its own, so that two units suffice behind the CU array
and sums keep their raster order.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.beats import PoolUpdate
from merp.hdl.bundles import bits
from merp.hdl.delay import delay
from merp.hdl.entity import entity
from merp.hdl.fp_mul import fp_mul
from merp.hdl.pool_cell import pool_cell
from merp.models.params.design import Design


def pool_unit_latency(design: Design) -> int:
    """Cycles from an element to the result that it completes."""
    return design.pool_latency + (design.mul_latency if design.average else 0)


@entity
def pool_unit(
    clk: Any, x: Any, update: PoolUpdate, average: Any, scale: Any, y: Any, design: Design
) -> Any:
    """Pool the elements of one lane.

    x        in   element of a beat
    update   in   what each memory does with it
    average  in   average pooling (in a design that has it), else maximum
    scale    in   factor of average pooling, 1 / window^2
    y        out  pooled element

    Latency: pool_latency, plus mul_latency in a design with average pooling, from x to y.
    Throughput: an element per cycle, the same memory word every pool_latency cycles. Reset: none.
    """
    width, overlap = design.fmt.width, design.pool_overlap
    span = update.address_width
    memories = overlap**2
    element = bits(width)
    combined = [bits(width) for _ in range(memories)]
    complete = bits(width)

    @always(clk.posedge)
    def follow() -> None:
        element.next = x

    cells = [
        pool_cell(
            clk,
            update.read(memory),
            update.address((memory % overlap + 1) * span, memory % overlap * span),
            element,
            update.fresh(memory),
            update.store(memory),
            update.store_address((memory % overlap + 1) * span, memory % overlap * span),
            average,
            combined[memory],
            design,
        )
        for memory in range(memories)
    ]

    if not design.average:

        @always(clk.posedge)
        def deliver() -> None:
            for memory in range(memories):
                if update.deliver[memory]:
                    y.next = combined[memory]

        return follow, cells, deliver

    scaled = bits(width)
    plain = bits(width)

    @always(clk.posedge)
    def finish() -> None:
        for memory in range(memories):
            if update.deliver[memory]:
                complete.next = combined[memory]

    multiply = fp_mul(clk, complete, scale, scaled, design.fmt, design.mul_latency)
    wait = delay(clk, complete, plain, design.mul_latency)

    @always_comb
    def choose() -> None:
        if average:
            y.next = scaled
        else:
            y.next = plain

    return follow, cells, finish, multiply, wait, choose
