"""Move a product down to the largest exponent of its window.

A 4:1 selection is one LUT6: two of them and a 2:1 selection move by 0 to 31 places. The last one
stays combinational, so that it shares its LUTs with the adder behind.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv

from merp.hdl.bundles import bits, flag
from merp.hdl.entity import entity
from merp.models.params.fused import DISTANCE_BITS

FAR = 16  # places of the last step


@entity
def fused_align(clk: Any, product: Any, distance: Any, term: Any) -> Any:
    """Shift a product right, arithmetically.

    product   in   W bits, two's complement
    distance  in   how far; the highest bit stands for further than anything is left
    term      out  W bits: the product moved by one place more, and below it the bit that was lost
                   last, which is still to be added

    Latency: 1. Throughput: one per cycle. Reset: none.
    """
    width = len(product)
    moved = bits(width)
    far, beyond = flag(), flag()

    @always(clk.posedge)
    def move() -> None:
        sign = intbv(0)[12:]
        fine = intbv(0)[width:]
        if product[width - 1]:
            sign[:] = ~sign
        if distance[2:] == 0:
            fine[:] = product
        elif distance[2:] == 1:
            fine[:] = concat(sign[1:], product[width:1])
        elif distance[2:] == 2:
            fine[:] = concat(sign[2:], product[width:2])
        else:
            fine[:] = concat(sign[3:], product[width:3])
        if distance[4:2] == 0:
            moved.next = fine
        elif distance[4:2] == 1:
            moved.next = concat(sign[4:], fine[width:4])
        elif distance[4:2] == 2:
            moved.next = concat(sign[8:], fine[width:8])
        else:
            moved.next = concat(sign, fine[width:12])
        far.next = distance[4]
        beyond.next = distance[DISTANCE_BITS - 1]

    @always_comb
    def move_far() -> None:
        high = intbv(0)[FAR:]
        if moved[width - 1]:
            high[:] = ~high
        if beyond:
            term.next = 0
        elif far:
            term.next = concat(high, moved[width:FAR])
        else:
            term.next = moved

    return move, move_far
