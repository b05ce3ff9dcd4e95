"""Delay of a flag that qualifies the word in a pipeline next to it."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, entity


@entity
def valid_delay(clk: Bit, rst: Bit, d: Bit, q: Bit, cycles: int) -> Any:
    """Delay a flag by a number of clock cycles.

    d  in   the flag
    q  out  the flag of cycles before

    Latency: cycles, 1 or more. Throughput: a flag per cycle. Reset: all low, so that words left in
    the pipeline next to it have no effect.
    """
    if cycles < 1:
        raise ValueError(f"cycles must be 1 or more, not {cycles}")
    line = bits(cycles)  # bit i: the flag of i + 1 cycles ago

    @always(clk.posedge)
    def shift() -> None:
        moved = intbv(0)[cycles + 1 :]
        moved[:] = concat(line, d)
        if rst:
            line.next = 0
        else:
            line.next = moved[cycles:]

    @always_comb
    def leave() -> None:
        q.next = line[cycles - 1]

    return shift, leave
