"""Convert a byte of an image to the number that it represents."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.conversion.entity import Word, entity


@entity
def byte_value(a: Word, y: Word, values: tuple[int, ...]) -> Any:
    """Look up the word of a byte in a table, so the hardware does not round.

    a  in   a byte
    y  out  values[a], the float that the byte represents

    Latency: combinational. Reset: none.
    """

    @always_comb
    def look() -> None:
        y.next = values[int(a)]

    return look
