"""What goes with a result while the pooling units work on its elements."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat

from merp.hdl.beats import Beat
from merp.hdl.bundles import bits
from merp.hdl.delay import delay
from merp.hdl.entity import entity


@entity
def result_tag(
    clk: Any, rst: Any, beat: Beat, push: Any, lanes: Any, last: Any, cycles: int
) -> Any:
    """Delay a beat's tags by cycles, at least two.

    push, lanes, last  out  beat's closes, lanes and last; the latter two count only with push

    Latency: cycles. Throughput: a beat per cycle. Reset: no result is on its way, so that what
    is still in the pooling units leads to nothing.
    """
    due = bits(cycles)

    @always_comb
    def present() -> None:
        push.next = due[cycles - 1]

    @always(clk.posedge)
    def follow() -> None:
        due.next = concat(due[cycles - 1 :], beat.closes)
        if rst:
            due.next = 0

    return (
        present,
        follow,
        delay(clk, beat.lanes, lanes, cycles),
        delay(clk, beat.last, last, cycles),
    )
