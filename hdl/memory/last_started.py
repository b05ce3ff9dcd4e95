"""Remember the engine that was started last."""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def last_started(clk: Bit, rst: Bit, begins: Word, selected: Word) -> Any:
    """Store the number of an engine when it starts.

    begins    in   a start is written to an engine; bit i is engine i, at most one bit is set
    selected  out  number of the engine that was started last, from the next cycle on

    Reset: engine 0.
    """
    engines = len(begins)

    @always(clk.posedge)
    def store() -> None:
        for i in range(engines):
            if begins[i]:
                selected.next = i
        if rst:
            selected.next = 0

    return store
