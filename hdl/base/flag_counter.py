"""How often flags were set that come side by side."""

from __future__ import annotations

from typing import Any

from myhdl import always, intbv

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def flag_counter(clk: Bit, clear: Bit, flags: Word, total: Word) -> Any:
    """Count the bits that are set.

    flags  in   those of a cycle
    total  out  of all cycles up to two ago; clear sets it to zero

    The flags of a cycle are added up in one cycle, and to the total in the next.
    Throughput: flags per cycle. Reset, by clear: zero, without the flags of the cycle before.
    """
    number = len(flags)
    size = number.bit_length()
    found = bits(size)

    @always(clk.posedge)
    def tally() -> None:
        some = intbv(0)[size:]
        for i in range(number):
            if flags[i]:
                some[:] = some + 1
        found.next = some
        total.next = total + found
        if clear:
            found.next = 0
            total.next = 0

    return tally
