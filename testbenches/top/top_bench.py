"""The MyHDL bench of a whole top: the clock, with streams and monitors in one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Any

from myhdl import StopSimulation, block, delay, instance

from merp.hdl.conversion.internals import ALL_SIGNALS
from merp.hdl.conversion.quick_signals import quick_signals
from merp.testbenches.block.own_signals import own_signals
from merp.testbenches.block.trace import flatten
from merp.testbenches.top.one_clock import Processes, take_processes
from merp.testbenches.top.player import Progress, player
from merp.testbenches.top.run import Outcome, Run
from merp.testbenches.top.streams import Read
from merp.testbenches.top.top import Top
from merp.testbenches.top.vcd import PortDump


def run_top(
    top: Top,
    runs: Iterable[Run],
    deliver: Callable[[Outcome], None],
    limit: int,
    vcd: Path | None = None,
    progress: Progress | None = None,
) -> float:
    """Play ``runs`` on one MyHDL elaboration of ``top``; ``deliver`` gets each outcome.

    Returns the seconds of the elaboration. ``vcd`` receives the top's ports.

    Raises:
        Stuck: no word moved for ``limit`` cycles.
        ValueError: a run does not fit the top.
    """
    signals = flatten(top.args)
    clk = signals["clk"]

    def read(name: str) -> Read:
        signal = signals[name]
        return signal.__int__ if len(signal) > 1 else signal.__bool__

    def bench_of(write_cycle: Callable[[], None]) -> Any:
        @block
        def bench() -> Any:
            with top.elaboration():
                dut = top.function(**top.args)
            processes = Processes(take_processes(dut, clk))

            @instance
            def stimulus() -> Any:
                play = player(top.ports, read, runs, deliver, limit, progress)
                half = delay(5)
                changes = next(play, None)
                while changes is not None:
                    for name, value in changes.items():
                        signals[name].next = value
                    yield half
                    write_cycle()
                    changes = next(play, None)  # samples this cycle before its edge
                    clk.next = True
                    yield half
                    clk.next = False
                raise StopSimulation

            @instance
            def design() -> Any:
                processes.begin()
                edge = clk.posedge
                while True:
                    yield edge
                    processes.edge()

            return dut, stimulus, design

        return bench()

    with ExitStack() as stack:
        write_cycle = _nothing
        if vcd is not None:
            pins = [(pin, read(pin.name)) for pin in top.ports.signals()]
            write_cycle = stack.enter_context(PortDump(vcd, top.name, pins)).cycle
        stack.enter_context(own_signals(signals.values()))
        began = perf_counter()
        simulation = bench_of(write_cycle)
        stack.enter_context(quick_signals(ALL_SIGNALS))
        elaborated = perf_counter() - began
        try:
            simulation.run_sim(quiet=1)
        finally:
            simulation.quit_sim()
    return elaborated


def _nothing() -> None:
    """Stand-in for the dump where no waveform is wanted."""
