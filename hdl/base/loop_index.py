"""Index of one of several nested loops."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.base.signals import flag
from merp.hdl.conversion.entity import Bit, Word


@block
def loop_index(clk: Bit, start: Bit, step: Bit, size: Word, index: Word, final: Bit) -> Any:
    """Count from 0 to size - 1 and start over.

    start  in   go to 0
    step   in   go to the next index; 0 follows the last one
    size   in   number of iterations, stable from start on
    index  out  the current index; final: it is the last one

    Both outputs are registered, because every step depends on the ends of the inner loops. Reset:
    none, begin with start.
    """
    most = size.max
    ends, alone = flag(), flag()  # the next index is the last; the first index is the last

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
