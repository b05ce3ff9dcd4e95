"""The number that a byte of an image stands for."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.conversion.entity import Word, entity


@entity
def byte_value(a: Word, y: Word, values: tuple[int, ...]) -> Any:
    """Give the word of a byte, out of a table: no rounding is left to the hardware.

    a  in   a byte
    y  out  values[a], the float that it stands for

    Latency: combinational. Reset: none.
    """

    @always_comb
    def look() -> None:
        y.next = values[int(a)]

    return look
