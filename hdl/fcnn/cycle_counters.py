"""Counters of a module's cycles, by cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from myhdl import always, block

from merp.hdl.base.status import Status
from merp.hdl.conversion.entity import Bit, Word
from merp.models.base.counters import Counter


@block
def _tally(clk: Bit, start: Bit, running: Bit, on: Bit, total: Word) -> Any:
    """Count the cycles of a run in which a flag is high."""

    @always(clk.posedge)
    def count() -> None:
        if running and on:
            total.next = total + 1
        if start:
            total.next = 0

    return count


@block
def cycle_counters(
    clk: Bit, start: Bit, running: Bit, activity: Any, status: Status, counters: Sequence[Counter]
) -> Any:
    """Count the cycles of a run by cause.

    running   in   a run is in progress
    activity  in   a flag for each counter but total
    status    out  the counters; start sets them to zero

    Reset: none, begin with start.
    """
    flags = {**vars(activity), "total": running}
    return [
        _tally(clk, start, running, on=flags[each.name], total=vars(status)[each.name])
        for each in counters
    ]
