"""Flags of a module's status."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.status import Status
from merp.hdl.conversion.entity import Bit


@block
def run_flags(
    clk: Bit, rst: Bit, start: Bit, running: Bit, ended: Bit, wrong: Bit, status: Status
) -> Any:
    """Report the flags of a run.

    running  in   a run is in progress
    ended    in   the run has ended, until start
    wrong    in   the last of an input was early or late, until start
    status   out  busy, done and framing_error; done comes a cycle after ended, when all words are
                  counted

    Reset: not done.
    """

    @always_comb
    def tell() -> None:
        status.busy.next = running
        status.framing_error.next = wrong

    @always(clk.posedge)
    def finish() -> None:
        status.done.next = ended
        if start or rst:
            status.done.next = False

    return tell, finish
