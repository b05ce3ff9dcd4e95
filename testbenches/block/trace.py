"""Run one synchronous block in MyHDL and record every port at every clock edge.

A trace is checked twice: against the golden model, and cycle by cycle against the exported VHDL
(``merp.cosim.block.replay``). Therefore both simulators use the same stimulus.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from myhdl import EnumItemType, Signal, StopSimulation, block, delay, instance

from merp.hdl.base.signals import signals_of
from merp.hdl.conversion.base.internals import AnySignal, enum_members, enum_of, initial
from merp.hdl.conversion.own_signals import own_signals
from merp.hdl.conversion.ports import is_bundle, prefix_of

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


def _bits(signal: Any) -> int:
    value = int(signal.val)
    return value & ((1 << (len(signal) or 1)) - 1)


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

    def apply(values: Mapping[str, int]) -> None:
        for name, value in values.items():
            signal = flat[name]
            width = len(signal) or 1
            if signal.min is not None and signal.min < 0 and value >= 1 << (width - 1):
                value -= 1 << width
            is_enum = isinstance(initial(signal), EnumItemType)
            signal.next = _member(signal, value) if is_enum else int(value)

    def bench() -> Any:
        dut = function(**args)

        @instance
        def stimulus() -> Any:
            apply(drive(0, {}))
            for cycle in range(cycles):
                yield delay(5)
                seen = {name: _bits(signal) for name, signal in flat.items()}
                rows.append(tuple(seen.values()))
                clock.next = True
                yield delay(5)
                clock.next = False
                if cycle + 1 < cycles:
                    apply(drive(cycle + 1, seen))
            raise StopSimulation

        return dut, stimulus

    with own_signals(flatten(args).values()):
        clock = clk if clk is not None else Signal(bool(0))
        simulation = block(bench)()
        simulation.run_sim(quiet=1)
        simulation.quit_sim()
    return Trace(function, args, ports, tuple(rows))
