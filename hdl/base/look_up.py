"""A table in the hardware."""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def look_up(clk: Bit, index: Word, found: Word, table: tuple[int, ...]) -> Any:
    """Look a number up.

    index  in   its place; behind the table's end there is none
    found  out  the number, a cycle later

    Throughput: one per cycle. Reset: none.
    """
    size = 1 << len(index)
    numbers = (*table, *[0] * size)[:size]

    @always(clk.posedge)
    def find() -> None:
        found.next = numbers[int(index)]

    return find
