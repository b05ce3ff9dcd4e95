"""Status of activation and pooling, and the cycles of a run by cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import bits, flag
from merp.hdl.base.status import STATUS_WIDTH
from merp.hdl.conversion.entity import Bit
from merp.models.base.register_map import FLAGS
from merp.models.machines.fcnn.params.pool_registers import POOL_COUNTERS


class PoolStatus:
    """Flags and counters of a run; the counters restart with ``start``.

    busy           out  a run is in progress
    done           out  the last word was transferred; high until the next start
    framing_error  out  the last of an input came with a wrong word; high until the next start
    """

    def __init__(self, words: tuple[str, ...]) -> None:
        vars(self).update({name: flag() for name in FLAGS})
        names = (*(each.name for each in POOL_COUNTERS), *words)
        vars(self).update({name: bits(STATUS_WIDTH) for name in names})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the signal of a flag or a counter."""


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


@block
def pool_counters(
    clk: Bit, rst: Bit, start: Bit, progress: PoolProgress, status: PoolStatus
) -> Any:
    """Count the cycles of a run by cause, and report its flags.

    Reset: no run; counters restart with start.
    """
    running, begun = flag(), flag()
    counted = flag()

    @always_comb
    def tell() -> None:
        counted.next = running and not progress.done
        status.busy.next = running and not progress.done
        status.framing_error.next = progress.framing_error

    @always(clk.posedge)
    def tally() -> None:
        status.done.next = progress.done  # a cycle later, with the last words counted
        if counted:
            status.total.next = status.total + 1
            if progress.issue:
                begun.next = True
                status.issue.next = status.issue + 1
                if progress.useful:
                    status.useful.next = status.useful + 1
            elif progress.over:
                status.drain.next = status.drain + 1
            elif not begun:
                status.fill.next = status.fill + 1
            elif progress.blocked:
                status.stall_output.next = status.stall_output + 1
            else:
                status.stall_input.next = status.stall_input + 1
        if start:
            status.done.next = False
            running.next = True
            begun.next = False
            status.total.next = 0
            status.issue.next = 0
            status.useful.next = 0
            status.drain.next = 0
            status.fill.next = 0
            status.stall_input.next = 0
            status.stall_output.next = 0
        if rst:
            status.done.next = False
            running.next = False

    return tell, tally
