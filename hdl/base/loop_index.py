"""The index of one of several nested loops."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.base.signals import flag
from merp.hdl.conversion.entity import Bit, Word


@block
def loop_index(clk: Bit, start: Bit, step: Bit, size: Word, index: Word, final: Bit) -> Any:
    """Count from 0 to size - 1 and begin anew.

    start  in   go to 0
    step   in   go to the next one; behind the last comes 0
    size   in   how many there are, stable from start
    index  out  the one at hand; final: it is the last one

    Both come from registers, as all that a step moves hangs on the ends of the loops inside.
    Reset: none, begin with start.
    """
    most = size.max
    ends, alone = flag(), flag()  # the next one is the last; the first is

    @always_comb
    def look_ahead() -> None:
        behind = intbv(0, min=0, max=most + 2)
        behind[:] = index
        behind[:] = behind + 2
        ends.next = behind == size
        alone.next = size == 1

    @always(clk.posedge)
    def go() -> None:
        if step:
            if final:
                index.next = 0
                final.next = alone
            else:
                index.next = index + 1
                final.next = ends
        if start:
            index.next = 0
            final.next = alone

    return look_ahead, go
