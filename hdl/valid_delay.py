"""Delay of a flag that says whether the word beside it counts."""

from __future__ import annotations

from typing import Any

from myhdl import always, block

from merp.hdl.bundles import flag
from merp.hdl.entity import entity


@block
def _register(clk: Any, rst: Any, d: Any, q: Any) -> Any:
    @always(clk.posedge)
    def load() -> None:
        q.next = d and not rst

    return load


@block
def _line(clk: Any, rst: Any, d: Any, q: Any, cycles: int) -> Any:
    """Two or more registers; the last is q itself."""
    held = [flag() for _ in range(cycles - 1)]

    @always(clk.posedge)
    def shift() -> None:
        held[0].next = d and not rst
        for i in range(1, cycles - 1):
            held[i].next = held[i - 1] and not rst
        q.next = held[cycles - 2] and not rst

    return shift


@entity
def valid_delay(clk: Any, rst: Any, d: Any, q: Any, cycles: int) -> Any:
    """Hold a flag for a number of clock cycles.

    Latency: cycles, 1 or more. Throughput: a flag per cycle. Reset: all low, so that what is still
    in the pipeline beside it leads to nothing.
    """
    if cycles < 1:
        raise ValueError(f"cycles must be 1 or more, not {cycles}")
    if cycles == 1:
        return _register(clk, rst, d, q)
    return _line(clk, rst, d, q, cycles)
