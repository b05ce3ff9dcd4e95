"""Status of activation and pooling, and the cycles of a run by cause."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import flag
from merp.hdl.base.status import Status
from merp.hdl.conversion.entity import Bit
from merp.hdl.fcnn.cycle_counters import cycle_counters
from merp.hdl.fcnn.run_flags import run_flags
from merp.models.machines.fcnn.params.pool_registers import POOL_COUNTERS


class PoolProgress:
    """Events of a module of activation and pooling, in every cycle.

    issue    a beat before pooling is processed; useful: it lies in a window
    blocked  there is no place for its result
    over     every beat was processed, until start
    done     the last word was transferred, until start
    """

    def __init__(self) -> None:
        self.issue, self.useful, self.blocked = flag(), flag(), flag()
        self.over, self.done, self.framing_error = flag(), flag(), flag()


class PoolActivity:
    """The work of a cycle: in each cycle of a run, one flag is high, and ``useful`` beside issue.

    issue         a beat before pooling is processed
    useful        the beat lies in a window
    drain         every beat was processed, and results leave
    fill          the first beat was not processed yet
    stall_output  a beat waits for a place for its result
    stall_input   a beat is late
    """

    def __init__(self) -> None:
        self.issue, self.useful, self.drain, self.fill = (flag() for _ in range(4))
        self.stall_output, self.stall_input = flag(), flag()


@block
def pool_counters(clk: Bit, rst: Bit, start: Bit, progress: PoolProgress, status: Status) -> Any:
    """Count the cycles of a run by cause, and report its flags.

    Reset: no run; counters restart with start.
    """
    activity = PoolActivity()
    started, running, begun = flag(), flag(), flag()

    @always_comb
    def look() -> None:
        running.next = started and not progress.done

    @always_comb
    def sort() -> None:
        waits = not progress.issue and not progress.over
        activity.issue.next = progress.issue
        activity.useful.next = progress.issue and progress.useful
        activity.drain.next = progress.over and not progress.issue
        activity.fill.next = waits and not begun
        activity.stall_output.next = waits and begun and progress.blocked
        activity.stall_input.next = waits and begun and not progress.blocked

    @always(clk.posedge)
    def follow() -> None:
        if progress.issue:
            begun.next = True
        if start:
            started.next = True
            begun.next = False
        if rst:
            started.next = False

    return (
        look, sort, follow,
        run_flags(
            clk, rst, start, running=running, ended=progress.done, wrong=progress.framing_error,
            status=status,
        ),
        cycle_counters(
            clk, start, running=running, activity=activity, status=status, counters=POOL_COUNTERS
        ),
    )  # fmt: skip
