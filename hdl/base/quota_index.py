"""Index of a loop whose size changes from round to round."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.conversion.entity import Bit, Word


@block
def quota_index(clk: Bit, start: Bit, step: Bit, quota: Word, index: Word, final: Bit) -> Any:
    """Count from 0 to quota - 1 and start over.

    start  in   go to 0
    step   in   go to the next index; 0 follows the last one
    quota  in   number of iterations in this round
    index  out  the current index; final: it is the last one, from a comparison in this cycle

    Reset: none, begin with start.
    """
    most = quota.max

    @always_comb
    def tell() -> None:
        following = intbv(0, min=0, max=most + 1)
        following[:] = index
        following[:] = following + 1
        final.next = following == quota

    @always(clk.posedge)
    def go() -> None:
        if step:
            if final:
                index.next = 0
            else:
                index.next = index + 1
        if start:
            index.next = 0

    return tell, go
