"""Sum of a pass counter over the passes of a run."""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def run_total(clk: Bit, rst: Bit, start: Bit, add: Bit, counted: Word, total: Word) -> Any:
    """Add the count of a pass.

    add      in   pulse: the pass is over
    counted  in   counter of the pass, which is stable by then
    total    out  sum since start

    Latency: one cycle. Reset, and start: zero.
    """

    @always(clk.posedge)
    def gather() -> None:
        if add:
            total.next = total + counted
        if start or rst:
            total.next = 0

    return gather
