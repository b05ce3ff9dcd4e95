"""Pooling unit of one lane: it processes every window of an element in one beat.

Source: CNN-MERP, section IV.F. Windows may overlap: ceil(window / stride)^2 windows share an
element. Each has its partial result in a separate memory, so that two units suffice behind the CU
array and sums keep their raster order.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.arithmetic.fp_mul import fp_mul
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.super_layer.pool_cell import pool_cell
from merp.hdl.cnn_merp.super_layer.super_layer_ports import PoolUpdate, element_width
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


def pool_unit_latency(design: EngineDesign) -> int:
    """Return the cycles from an element to the result that it completes."""
    return design.pool_latency + (design.mul_latency if design.average else 0)


@entity
def pool_unit(
    clk: Bit,
    x: Word,
    update: PoolUpdate,
    average: Bit,
    scale: Word,
    y: Word,
    design: EngineDesign,
    codes: Word = None,
) -> Any:
    """Pool the elements of one lane.

    x        in   element of a beat
    update   in   control of each memory
    average  in   average pooling (in a design that has it), else maximum
    scale    in   factor of average pooling, 1 / window^2
    y        out  pooled element; in a design that writes masks, the position of a maximum is above
                  it
    codes    in   (in such a design) position of x in the window of each memory, one cycle late

    Latency: pool_latency, plus mul_latency in a design with average pooling, from x to y.
    Throughput: an element per cycle, the same memory word every pool_latency cycles. Reset: none.
    """
    width = design.fmt.width
    memories = design.pool_overlap**2
    pooled = element_width(design)
    element = bits(width)
    combined = [bits(pooled) for _ in range(memories)]
    complete = bits(pooled) if design.average else y

    cells = [
        pool_cell(
            clk,
            update=update,
            element=element,
            average=average,
            y=combined[index],
            index=index,
            design=design,
            codes=codes,
        )
        for index in range(memories)
    ]

    @always(clk.posedge)
    def follow() -> None:
        element.next = x
        if update.deliver != 0:
            for i in range(memories):
                if update.deliver[i]:
                    complete.next = combined[i]

    if not design.average:
        return cells, follow

    scaled = bits(width)
    plain = bits(pooled)
    total = complete(width, 0) if design.state else complete

    @always_comb
    def choose() -> None:
        if average:
            y.next = scaled
        else:
            y.next = plain

    return (
        cells,
        follow,
        fp_mul(clk, a=total, b=scale, y=scaled, fmt=design.fmt, latency=design.mul_latency),
        delay(clk, d=complete, q=plain, cycles=design.mul_latency),
        choose,
    )
