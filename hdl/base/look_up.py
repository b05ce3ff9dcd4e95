"""Lookup table in hardware."""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def look_up(clk: Bit, index: Word, found: Word, table: tuple[int, ...]) -> Any:
    """Look up a number in a table.

    index  in   place in the table; it must be below the length of the table
    found  out  the number, one cycle later

    Throughput: one per cycle. Reset: none.
    """
    size = 1 << len(index)
    numbers = (*table, *[0] * size)[:size]

    @always(clk.posedge)
    def find() -> None:
        found.next = numbers[int(index)]

    return find
