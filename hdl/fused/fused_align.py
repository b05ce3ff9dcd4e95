"""Align a product to the largest exponent of its window.

A 4:1 selection is one LUT6. Two such selections and a 2:1 selection shift by 0 to 31 places. The
last selection is combinational, so that it shares its LUTs with the adder behind it.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.fused import DISTANCE_BITS

FAR = 16  # places of the last step


@entity
def fused_align(clk: Bit, product: Word, distance: Word, term: Word, later: int) -> Any:
    """Shift a product right, arithmetically.

    product   in   W bits, two's complement
    distance  in   shift distance; the highest bit means a shift beyond the last bit
    term      out  W bits: the product shifted by one more place. Below it: the bit that was shifted
                   out last, which is still to be added

    Latency: 1 + later. Throughput: one per cycle. Reset: none.
    """
    width = len(product)
    # Later terms wait before and behind the selections: a single line of three registers would
    # become a shift register, which costs a LUT per bit.
    before, behind = (later + 1) // 2, later // 2
    given = bits(width) if before else product
    steps = bits(DISTANCE_BITS) if before else distance
    moved = bits(width + 2)  # | beyond | far | product shifted by less than 16 places |
    last = bits(width + 2) if behind else moved
    waits = []
    if before:
        waits += [
            delay(clk, d=product, q=given, cycles=before),
            delay(clk, d=distance, q=steps, cycles=before),
        ]
    if behind:
        waits.append(delay(clk, d=moved, q=last, cycles=behind))

    @always(clk.posedge)
    def move() -> None:
        sign = intbv(0)[12:]
        fine = intbv(0)[width:]
        coarse = intbv(0)[width:]
        if given[width - 1]:
            sign[:] = ~sign
        if steps[2:] == 0:
            fine[:] = given
        elif steps[2:] == 1:
            fine[:] = concat(sign[1:], given[width:1])
        elif steps[2:] == 2:
            fine[:] = concat(sign[2:], given[width:2])
        else:
            fine[:] = concat(sign[3:], given[width:3])
        if steps[4:2] == 0:
            coarse[:] = fine
        elif steps[4:2] == 1:
            coarse[:] = concat(sign[4:], fine[width:4])
        elif steps[4:2] == 2:
            coarse[:] = concat(sign[8:], fine[width:8])
        else:
            coarse[:] = concat(sign, fine[width:12])
        moved.next = concat(steps[DISTANCE_BITS:4], coarse)

    @always_comb
    def move_far() -> None:
        high = intbv(0)[FAR:]
        if last[width - 1]:
            high[:] = ~high
        if last[width + 1]:
            term.next = 0
        elif last[width]:
            term.next = concat(high, last[width:FAR])
        else:
            term.next = last[width:]

    return waits, move, move_far
