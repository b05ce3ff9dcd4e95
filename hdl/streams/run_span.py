"""Track whether words of a run are left, for inputs whose own loops detect the last word."""

from __future__ import annotations

from typing import Any

from myhdl import always, block

from merp.hdl.conversion.entity import Bit


@block
def run_span(
    clk: Bit,
    rst: Bit,
    start: Bit,
    taken: Bit,
    last: Bit,
    final: Bit,
    taking: Bit,
    complete: Bit,
    framing_error: Bit,
) -> Any:
    """Follow a stream from start to the last word of its run.

    taken          in   a word is transferred in this cycle
    last           in   the word is marked as the last one
    final          in   the word is the last one of the run
    taking         out  words of the run are left
    complete       out  no word of the run is left, until start
    framing_error  out  last arrived with a word other than the last of the run; sticky until start

    Throughput: a word per cycle. Reset: no word is left.
    """

    @always(clk.posedge)
    def follow() -> None:
        if taken:
            if last != final:
                framing_error.next = True
            if final:
                taking.next = False
                complete.next = True
        if start:
            taking.next = True
            complete.next = False
            framing_error.next = False
        if rst:
            taking.next = False
            complete.next = False
            framing_error.next = False

    return follow
