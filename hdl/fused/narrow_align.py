"""Align an unsigned product to the largest exponent of its window, and apply its sign.

As in ``fused_align``, two 4:1 selections are followed by a last step that shares its LUTs with the
adder behind it. The last step needs two bits of the product and three more signals, which together
with the sum are six inputs.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_align import FAR
from merp.models.base.fused import DISTANCE_BITS


@entity
def narrow_align(
    clk: Bit, product: Word, minus: Bit, distance: Word, term: Word, later: int
) -> Any:
    """Shift a product right, and negate it.

    product   in   unsigned; its highest bit is the highest bit of the window
    minus     in   sign of the product
    distance  in   shift distance; the highest bit means a shift beyond the last bit
    term      out  W bits: the product shifted by one more place, in two's complement. Below it: the
                   bit that was shifted out last, which is still to be added

    Negation inverts every bit, including the lowest one: -(v + u) = not v + not u. Latency: 1 +
    later. Throughput: one per cycle. Reset: none.
    """
    width = len(term) - 1
    size = min(len(product), width)
    cut, below = len(product) - size, width - size
    # Later terms wait before and behind the selections: a single line of three registers would
    # become a shift register, which costs a LUT per bit.
    before, behind = (later + 1) // 2, later // 2
    top = bits(size)
    given = bits(size) if before else top
    steps = bits(DISTANCE_BITS) if before else distance
    sign = flag() if before else minus
    moved = bits(width + 3)  # | minus | beyond | far | product shifted by less than 16 places |
    last = bits(width + 3) if behind else moved
    waits = []
    if before:
        waits += [
            delay(clk, d=top, q=given, cycles=before),
            delay(clk, d=distance, q=steps, cycles=before),
            delay(clk, d=minus, q=sign, cycles=before),
        ]
    if behind:
        waits.append(delay(clk, d=moved, q=last, cycles=behind))

    @always_comb
    def cut_low() -> None:
        top.next = product[:cut]

    @always(clk.posedge)
    def move() -> None:
        wide = intbv(0)[width:]
        fine = intbv(0)[width:]
        coarse = intbv(0)[width:]
        wide[:] = given
        wide[:] = wide << below
        if steps[2:] == 0:
            fine[:] = wide
        elif steps[2:] == 1:
            fine[:] = wide >> 1
        elif steps[2:] == 2:
            fine[:] = wide >> 2
        else:
            fine[:] = wide >> 3
        if steps[4:2] == 0:
            coarse[:] = fine
        elif steps[4:2] == 1:
            coarse[:] = fine >> 4
        elif steps[4:2] == 2:
            coarse[:] = fine >> 8
        else:
            coarse[:] = fine >> 12
        moved.next = concat(sign, steps[DISTANCE_BITS:4], coarse)

    @always_comb
    def move_far() -> None:
        magnitude = intbv(0)[width + 1 :]
        if not last[width + 1]:
            magnitude[:] = last[width:]
            if last[width]:
                magnitude[:] = magnitude >> FAR
        if last[width + 2]:
            magnitude[:] = ~magnitude
        term.next = magnitude

    return waits, cut_low, move, move_far
