"""Run one synchronous block in MyHDL and record every port at every clock edge.

A trace is checked twice: against the golden model, and cycle by cycle against the exported VHDL
(``merp.cosim.block.replay``). Therefore both simulators use the same stimulus.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from myhdl import EnumItemType, Signal, StopSimulation, block, delay, instance, intbv

from merp.hdl.base.signals import signals_of
from merp.hdl.conversion.base.internals import (
    ALL_SIGNALS,
    AnySignal,
    enum_members,
    enum_of,
    initial,
)
from merp.hdl.conversion.own_signals import own_signals
from merp.hdl.conversion.ports import is_bundle, prefix_of
from merp.hdl.fast_simulation.quick_signals import quick_signals
from merp.testbenches.block.one_clock import in_one_process, taken_over

Sample = dict[str, int]
Drive = Callable[[int, Sample], Mapping[str, int]]
"""``drive(cycle, seen)`` returns input values for ``cycle``.

``seen`` are the values of all ports one cycle earlier.
"""


@dataclass(frozen=True)
class TracedPort:
    """A port of the block under test."""

    name: str
    width: int
    is_input: bool


@dataclass(frozen=True)
class Trace:
    """Every port, sampled just before each rising clock edge.

    Attributes:
        block: the block function.
        args: its arguments as passed to ``run_block``; signals have their initial values again.
        ports: the ports in the order of ``rows``, without the clock.
        rows: one tuple of bit patterns per cycle.
    """

    block: Callable[..., Any]
    args: Mapping[str, Any]
    ports: tuple[TracedPort, ...]
    rows: tuple[tuple[int, ...], ...]

    def column(self, name: str) -> list[int]:
        """Return all samples of one port."""
        index = [port.name for port in self.ports].index(name)
        return [row[index] for row in self.rows]


def flatten(args: Mapping[str, Any]) -> dict[str, Any]:
    """Name each signal as the converter names ports: ``argument`` or ``argument_field``."""
    flat: dict[str, Any] = {}
    for name, value in args.items():
        if isinstance(value, AnySignal):
            flat[name] = value
        elif is_bundle(value):
            flat |= signals_of(value, prefix_of(name, value))
    return flat


def _reader(signal: Any) -> tuple[Callable[[], int], int]:
    """Return the function that reads a signal, and the mask of its bits."""
    mask = (1 << (len(signal) or 1)) - 1
    if isinstance(initial(signal), bool):
        return signal.__bool__, mask
    if isinstance(initial(signal), intbv):
        return signal.__int__, mask
    return lambda: int(signal.val), mask


def _writer(signal: Any) -> tuple[Any, Callable[[int], Any]]:
    """Return a signal, and the function that gives its value for a bit pattern."""
    width = len(signal) or 1
    if isinstance(initial(signal), EnumItemType):
        return signal, lambda bits: _member(signal, bits)
    if signal.min is None or signal.min >= 0:
        return signal, int
    return signal, lambda bits: int(bits) - (1 << width if bits >= 1 << width - 1 else 0)


def _member(signal: Any, bits: int) -> Any:
    """Return the member of an enumeration that has these bits."""
    found = [each for each in enum_members(enum_of(initial(signal))) if int(each) == bits]
    if not found:
        raise ValueError(f"no member of {enum_of(initial(signal))!r} has the bits {bits:b}")
    return found[0]


def run_block(
    function: Callable[..., Any],
    args: Mapping[str, Any],
    inputs: tuple[str, ...],
    drive: Drive,
    cycles: int,
    *,
    quick: bool = False,
) -> Trace:
    """Simulate ``function(**args)`` for ``cycles`` clock cycles, in MyHDL.

    Ports are sampled just before each rising edge. Thus ``drive`` receives the values that the
    registers of the block store at this edge.

    Args:
        function: the block.
        args: its arguments by name; the clock, if it has one, is ``clk``.
        inputs: the ports that ``drive`` sets, flattened: ``argument`` or ``argument_field``.
        drive: ``drive(cycle, seen)`` returns the inputs of that cycle by name, as bit patterns
            (two's complement for signed ports). An omitted input keeps its value. ``seen`` are
            all ports a cycle earlier; in cycle 0 it is empty.
        cycles: number of clock cycles.
        quick: do not call processes that would change nothing (``one_clock``). It is right for
            processes that depend on signals only, as those of merp. A process that prints, or
            draws a random number, must run in plain MyHDL.

    Raises:
        ValueError: ``inputs`` names a port that the block does not have.
    """
    flat = flatten(args)
    clk = flat.pop("clk", None)
    missing = [name for name in inputs if name not in flat]
    if missing:
        raise ValueError(f"no such port: {', '.join(missing)}")
    ports = tuple(
        TracedPort(name, len(signal) or 1, name in inputs) for name, signal in flat.items()
    )
    rows: list[tuple[int, ...]] = []
    writers = {name: _writer(signal) for name, signal in flat.items()}

    def apply(values: Mapping[str, int]) -> None:
        for name, value in values.items():
            signal, value_of = writers[name]
            signal.next = value_of(value)

    def bench(stack: ExitStack) -> Any:
        dut = function(**args)

        @instance
        def stimulus() -> Any:
            readers = [_reader(signal) for signal in flat.values()]
            apply(drive(0, {}))
            for cycle in range(cycles):
                yield delay(5)
                row = tuple([read() & mask for read, mask in readers])
                rows.append(row)
                clock.next = True
                yield delay(5)
                clock.next = False
                if cycle + 1 < cycles:
                    apply(drive(cycle + 1, dict(zip(flat, row, strict=True))))
            raise StopSimulation

        if quick:
            return dut, stimulus, in_one_process(clock, taken_over(dut, clock, stack))
        return dut, stimulus

    with own_signals(flatten(args).values()), ExitStack() as stack:
        clock = clk if clk is not None else Signal(bool(0))
        simulation = block(bench)(stack)
        if quick:
            stack.enter_context(quick_signals(ALL_SIGNALS))
        simulation.run_sim(quiet=1)
        simulation.quit_sim()
    return Trace(function, args, ports, tuple(rows))
