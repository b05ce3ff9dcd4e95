"""Count the free output places of a pipeline that cannot stall."""

from __future__ import annotations

from typing import Any

from myhdl import always, block

from merp.hdl.base.signals import count
from merp.hdl.conversion.entity import Bit


@block
def credit_gate(clk: Bit, rst: Bit, taken: Bit, freed: Bit, some: Bit, places: int) -> Any:
    """Count free places.

    taken, freed  in   pulses: a place is taken, a place is freed
    some          out  at least one place is free

    Reset: every place is free.
    """
    room = count(places)

    @always(clk.posedge)
    def keep() -> None:
        if taken and not freed:
            room.next = room - 1
            some.next = room != 1
        elif freed and not taken:
            room.next = room + 1
            some.next = True
        if rst:
            room.next = places
            some.next = True

    return keep
