"""Mark the taps of a window that lie inside the map, along its rows or columns."""

from __future__ import annotations

from typing import Any

from myhdl import always, block, intbv

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word


@block
def tap_mask(clk: Bit, begin: Bit, step: Bit, first: Word, beyond: Word, mask: Word) -> Any:
    """Follow a window along an axis of the map.

    begin   in   go to the first window
    step    in   go to the next one
    first   in   mask of the first window
    beyond  in   elements of the map behind the first window
    mask    out  a bit for each tap, the first lowest: the tap lies inside the map

    Each tap sees the elements of the next tap one step later, so only the last tap checks for the
    end of the map. Reset: none, begin with begin.
    """
    k = len(mask)
    left = bits(len(beyond))

    @always(clk.posedge)
    def follow() -> None:
        moved = intbv(0)[k + 1 :]
        if step:
            moved[k:] = mask
            if left != 0:
                moved[k] = True
                left.next = left - 1
            mask.next = moved[k + 1 : 1]
        if begin:
            mask.next = first
            left.next = beyond

    return follow
