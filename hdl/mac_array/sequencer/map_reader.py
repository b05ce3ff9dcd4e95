"""The read of the map banks for a slot, combined from both axes of its windows."""

from __future__ import annotations

from typing import Any

from myhdl import always, block

from merp.hdl.conversion.entity import Bit, Word
from merp.hdl.mac_array.ports.maps import AxisRead, MapRead


@block
def map_reader(
    clk: Bit, rst: Bit, fire: Bit, down: AxisRead, across: AxisRead, base: Word, read: MapRead
) -> Any:
    """Read the elements of a slot.

    fire          in   a slot is issued
    down, across  in   location of its elements, by rows and by columns
    base          in   word of the map
    read          out  the read, a cycle later

    Throughput: a slot per cycle. Reset: no read.
    """

    @always(clk.posedge)
    def ask() -> None:
        read.enable.next = fire
        if fire:
            read.rows_on.next = down.on
            read.rows_next.next = down.following
            read.row_shift.next = down.shift
            read.columns_on.next = across.on
            read.columns_next.next = across.following
            read.column_shift.next = across.shift
            read.addr_00.next = down.here + across.here + base
            read.addr_01.next = down.here + across.beyond + base
            read.addr_10.next = down.beyond + across.here + base
            read.addr_11.next = down.beyond + across.beyond + base
        if rst:
            read.enable.next = False

    return ask
