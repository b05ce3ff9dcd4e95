"""A tap of a window in a register, +0 outside the map."""

from __future__ import annotations

from typing import Any

from myhdl import always, block

from merp.hdl.conversion.entity import Bit, Word


@block
def masked_tap(clk: Bit, row_on: Bit, column_on: Bit, tap: Word, kept: Word) -> Any:
    """Register a tap; it is +0 outside the map.

    row_on     in   its row lies inside the map
    column_on  in   so does its column
    tap        in   the element
    kept       out  the element or +0, one cycle later

    Reset: none.
    """

    @always(clk.posedge)
    def keep() -> None:
        if row_on and column_on:
            kept.next = tap
        else:
            kept.next = 0

    return keep
