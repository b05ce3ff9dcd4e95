"""Simulations and conversions leave nothing behind in MyHDL; a simulation resets its ports."""

import gc
from pathlib import Path
from typing import Any, Literal

import pytest
from myhdl import ConcatSignal, Signal, always_comb, block, intbv

from block_bench import BlockBench
from marks import in_full
from merp.hdl.conversion.base.internals import (
    ALL_BLOCKS,
    ALL_MEMORIES,
    ALL_SIGNALS,
    AnySignal,
    event_waiters,
)
from merp.hdl.conversion.convert import convert


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
    others = [id(signal) for signal in ALL_SIGNALS]
    seen = []
    for _ in range(2):  # the same ports again: reset, and simulated by the second design alone
        trace = BlockBench(twice, **args).run(lambda cycle, _: {"a": cycle % 4}, 4)
        seen.append(trace.column("y"))
        assert [id(signal) for signal in ALL_SIGNALS] == others
        assert args["a"] == 0
        assert not event_waiters(args["a"])
    assert seen[0] == seen[1] == [0, 5, 10, 15]


@block
def delayed(a: Any, y: Any) -> Any:
    """A block with a list of signals, as memories are."""
    words = [Signal(intbv(0)[2:]) for _ in range(3)]

    @always_comb
    def show() -> None:
        words[0].next = a
        y.next = words[0]

    return show


@pytest.fixture(scope="module", autouse=True)
def earlier() -> None:
    """Freeze the objects of earlier tests: a look at each of them takes seconds."""
    gc.collect()
    gc.freeze()


def alive() -> int:
    """Count the signals of this module that something still refers to."""
    gc.collect()
    return sum(issubclass(type(each), AnySignal) for each in gc.get_objects())


def test_what_a_simulation_was_of_is_freed() -> None:
    bench = BlockBench(delayed, a=Signal(intbv(0)[2:]), y=Signal(intbv(0)[2:]))
    blocks, memories, signals = len(ALL_BLOCKS), set(ALL_MEMORIES), alive()
    trace = bench.run(lambda cycle, _: {"a": cycle}, 4)
    assert trace.column("y") == [0, 1, 2, 3]
    del trace
    assert (len(ALL_BLOCKS), set(ALL_MEMORIES), alive()) == (blocks, memories, signals)


@pytest.mark.parametrize("hdl", ["vhdl", *in_full("verilog")])
def test_what_was_converted_is_freed(hdl: Literal["vhdl", "verilog"], tmp_path: Path) -> None:
    args = {"a": Signal(intbv(0)[2:]), "y": Signal(intbv(0)[2:])}
    others, signals = [id(signal) for signal in ALL_SIGNALS], alive()
    blocks, memories = len(ALL_BLOCKS), set(ALL_MEMORIES)
    for _ in range(2):
        convert(delayed, args, hdl, tmp_path)
    assert (len(ALL_BLOCKS), set(ALL_MEMORIES), alive()) == (blocks, memories, signals)
    assert [id(signal) for signal in ALL_SIGNALS] == others
