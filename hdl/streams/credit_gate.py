"""How many places behind a rigid pipeline are free: what enters it must find one at its end."""

from __future__ import annotations

from typing import Any

from myhdl import always, block

from merp.hdl.base.signals import count
from merp.hdl.conversion.entity import Bit


@block
def credit_gate(clk: Bit, rst: Bit, taken: Bit, freed: Bit, some: Bit, places: int) -> Any:
    """Count free places.

    taken, freed  in   pulse: a place less, a place more
    some          out  there is one

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
