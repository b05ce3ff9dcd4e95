"""Simulations leave nothing behind in MyHDL, and start from their ports' initial values."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, Signal, always_comb, block, intbv

from merp.hdl.conversion.internals import ALL_SIGNALS, event_waiters
from merp.testbenches.block.trace import run_block


@block
def twice(a: Any, y: Any) -> Any:
    """A block with a concatenation, which MyHDL simulates by a process of its own."""
    joined = ConcatSignal(a, a)

    @always_comb
    def show() -> None:
        y.next = joined

    return show


def test_a_simulation_leaves_no_signals_behind() -> None:
    args = {"a": Signal(intbv(0)[2:]), "y": Signal(intbv(0)[4:])}
    others = list(ALL_SIGNALS)
    seen = []
    for _ in range(2):  # the same ports again: reset, and simulated by the second design alone
        trace = run_block(twice, args, ("a",), lambda cycle, _: {"a": cycle % 4}, 4)
        seen.append(trace.column("y"))
        assert ALL_SIGNALS == others
        assert args["a"] == 0
        assert not event_waiters(args["a"])
    assert seen[0] == seen[1] == [0, 5, 10, 15]
