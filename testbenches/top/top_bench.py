"""The MyHDL bench of a whole top. One process drives the clock, the streams and the monitors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from time import perf_counter
from typing import Any

from myhdl import StopSimulation, block, delay, instance

from merp.hdl.conversion.base.internals import ALL_SIGNALS
from merp.hdl.conversion.own_signals import own_signals
from merp.hdl.conversion.scope import elaborated
from merp.hdl.fast_simulation.quick_signals import quick_signals
from merp.testbenches.block.one_clock import in_one_process, taken_over
from merp.testbenches.block.trace import flatten
from merp.testbenches.top.border import Border
from merp.testbenches.top.player import Progress, player
from merp.testbenches.top.run import Outcome, Run
from merp.testbenches.top.streams import Read
from merp.testbenches.top.top import Top
from merp.testbenches.top.wave import Wave
from merp.testbenches.top.wave_dump import Named, WaveDump


def run_top(
    top: Top,
    runs: Iterable[Run],
    deliver: Callable[[Outcome], None],
    limit: int,
    wave: Wave | None = None,
    progress: Progress | None = None,
    border: Border | None = None,
) -> float:
    """Play ``runs`` on one MyHDL elaboration of ``top``, with the protocol of ``player``.

    Returns the time of the elaboration in seconds.

    Raises:
        BadInput: ``wave`` names an instance that does not exist.
        Stuck: no word moved for ``limit`` cycles.
        ValueError: a run does not fit the top.
    """
    signals = flatten(top.args)
    clk = signals["clk"]

    def read(name: str) -> Read:
        signal = signals[name]
        return signal.__int__ if len(signal) > 1 else signal.__bool__

    def bench_of(stack: ExitStack) -> Any:
        @block
        def bench() -> Any:
            with top.elaboration():
                dut, write_cycle = _elaborate(top, signals, wave, stack)

            @instance
            def stimulus() -> Any:
                play = player(top.ports, read, runs, deliver, limit, progress, border)
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

            return dut, stimulus, in_one_process(clk, taken_over(dut, clk, stack))

        return bench()

    with ExitStack() as stack:
        stack.enter_context(own_signals(signals.values()))
        began = perf_counter()
        simulation = bench_of(stack)
        stack.enter_context(quick_signals(ALL_SIGNALS))
        elaborated = perf_counter() - began
        try:
            simulation.run_sim(quiet=1)
        finally:
            simulation.quit_sim()
    return elaborated


def _elaborate(
    top: Top, ports: Mapping[str, Any], wave: Wave | None, stack: ExitStack
) -> tuple[Any, Callable[[], None]]:
    """Instantiate the top; return it and the function that records a cycle of its waveform."""

    def instantiate() -> Any:
        return top.function(**top.args)

    if wave is None:
        return instantiate(), _nothing
    shown: list[Named] = [((top.name, name), signal) for name, signal in ports.items()]
    if wave.below is None:
        dut = instantiate()
    else:
        dut, design = elaborated(instantiate)
        below = wave.scope(design)
        assert below is not None
        known = {path for path, _ in shown}
        found = below.paths(top.name, *wave.below)
        shown += [each for each in found if each[0] not in known]
    return dut, stack.enter_context(WaveDump(wave.path, ports["clk"], shown)).cycle


def _nothing() -> None:
    """Do nothing: called in place of the dump if no waveform is requested."""
