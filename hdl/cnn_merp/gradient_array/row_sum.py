"""The running sum of the aligned products of a tap, an integer."""

from __future__ import annotations

from typing import Any

from myhdl import always, intbv, modbv

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def row_sum(clk: Bit, clear: Bit, keep: Bit, term: Word, held: Word, width: int) -> Any:
    """Add a term in each cycle, and hold the sum on request.

    clear  in   the sum is zero in the next cycle
    term   in   value in two's complement, and below it a unit to add
    keep   in   hold the current sum
    held   out  ``width`` bits; higher bits are zero

    The sum counts modulo 2^width, and continues from sweep to sweep. The sum of one sweep is a
    difference, so no multiplexer precedes the adder. Reset: clear.
    """
    total = bits(width)
    top = len(term) - 1

    @always(clk.posedge)
    def add() -> None:
        # The statement is a difference, so that synthesis keeps the sum where a carry chain needs a
        # signal of its own. The 1 that a difference carries in is added to the unit in the lowest
        # place.
        left = intbv(0)[width + 1 :]
        right = intbv(0)[width + 1 :]
        value = modbv(0)[width + 1 :]
        left[:] = total
        left[:] = left << 1
        left[0] = term[0]
        if not term[top]:
            right[:] = ~right
        right[top:] = ~term[top:]
        right[0] = True
        value[:] = left - right
        if clear:
            total.next = 0
        else:
            total.next = value[width + 1 : 1]

    @always(clk.posedge)
    def hold() -> None:
        if keep:
            held.next = total

    return add, hold
