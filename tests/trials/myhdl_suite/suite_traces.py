"""Drive the inputs of a bench into a design alone, and record its trace.

A clock is an input like any other. A row holds the inputs of one moment and the ports after it. A
clock and data never change in the same row, so that their order has no influence in any language.
If a clock is called ``clk``, which ``merp.replay`` drives itself, a row is a cycle of it.
"""

from __future__ import annotations

import io
import random
import signal as signals
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from types import FrameType
from typing import Any

from myhdl import EnumItemType, ResetSignal, StopSimulation, block, delay, instance
from suite_designs import Design, as_value, bits_of, members_of

from merp.hdl.conversion.base.internals import TristateSignal, initial
from merp.hdl.conversion.own_signals import own_signals
from merp.testbenches.block.trace import Trace, TracedPort

CLOCK = "clk"
MOST_ROWS = 1500
FEW_ROWS = 8
ENOUGH = 60
CYCLES = 120
SEEDS = 4
RETRIES = 80
FRUITLESS = 12
SECONDS = 20.0
SEED = 1
"""The seed of elaborations that draw random numbers: each gives the same hardware."""

Vector = dict[str, int]
"""Bits of all inputs, by name."""
Group = list[Vector]
"""A group of inputs: data, and the pulses of the clocks after it."""


class TooLongError(Exception):
    """An action exceeds its time limit."""


class NoTraceError(Exception):
    """A design cannot be simulated alone; the message gives the reason."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise ``TooLongError`` in this context when the time is over."""

    def over(number: int, frame: FrameType | None) -> None:
        raise TooLongError(f"it takes more than {seconds:g} s")

    before = signals.signal(signals.SIGALRM, over)
    signals.setitimer(signals.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signals.setitimer(signals.ITIMER_REAL, 0)
        signals.signal(signals.SIGALRM, before)


@dataclass(frozen=True)
class Recorded:
    """A trace, the origin of its inputs, and whether an output changes in it."""

    trace: Trace
    source: str
    moves: bool


def recorded(design: Design) -> Recorded:
    """Return a trace of a design from its bench's inputs and, if they are few, from random inputs.

    Raises:
        NoTraceError: the design cannot be simulated.
    """
    best: Recorded | None = None
    error = "its bench drives nothing"
    for source, groups in _stimuli(design):
        for first in (True, False):
            trace, said = _legal_part(design, groups, first)
            error = said or error
            if trace is None:
                continue
            now = Recorded(trace, source, _moves(trace))
            if now.moves and len(trace.rows) >= FEW_ROWS:
                return now
            if best is None or (now.moves, len(trace.rows)) > (best.moves, len(best.trace.rows)):
                best = now
    if best is None:
        raise NoTraceError(error)
    return best


def _moves(trace: Trace) -> bool:
    """Return whether an output changes."""
    outputs = [port.name for port in trace.ports if not port.is_input]
    return any(len(set(trace.column(name))) > 1 for name in outputs)


def _stimuli(design: Design) -> Iterator[tuple[str, list[Group]]]:
    """Yield possible inputs of a design, the best first."""
    driven = list(_cycles(design)) if CLOCK in design.inputs else _changes(design)
    bench = [[vector] for vector in driven]
    for seed in range(SEEDS):
        rng = random.Random(f"{design.name} {seed}")
        groups = list(_random(design, rng, only_bits=seed % 2 == 1))
        if len(bench) < ENOUGH:
            yield ("bench and random" if len(bench) > 1 else "random"), bench + groups
        else:
            yield "bench", bench
            yield "random", groups


def _changes(design: Design) -> list[Vector]:
    return [dict(zip(design.inputs, vector, strict=True)) for vector in design.vectors]


def _cycles(design: Design) -> Iterator[Vector]:
    """Yield the inputs at each rising edge of ``clk``."""
    before = None
    for now in _changes(design):
        clock = now.pop(CLOCK)
        if before == 0 and clock:
            yield now
        before = clock


def _legal(signal: Any, rng: random.Random) -> int:
    """Return a random value that a signal may have, as bits."""
    value = initial(signal)
    if isinstance(value, EnumItemType):
        return int(rng.choice(members_of(value)))
    width = len(signal) or 1
    if signal.min is None:
        return rng.getrandbits(width)
    low, high = int(signal.min), int(signal.max)
    chosen = rng.choice((low, high - 1)) if rng.random() < 0.1 else rng.randrange(low, high)
    return chosen & ((1 << width) - 1)


def _is_reset(name: str, signal: Any) -> bool:
    return isinstance(signal, ResetSignal) or "rst" in name.lower() or "reset" in name.lower()


def _random(design: Design, rng: random.Random, only_bits: bool) -> Iterator[Group]:
    """Yield random legal inputs, and a pulse of each clock after each.

    ``only_bits``: words are 0 or 1, which more designs accept.
    """

    def drawn(name: str) -> int:
        bits = _legal(design.ports[name], rng)
        return bits & 1 if only_bits and _holds(design.ports[name], 1) else bits

    clocks = [name for name in design.edges if not _is_reset(name, design.ports[name])]
    now = {name: _idle_level(design, name) if name in design.edges else drawn(name)
           for name in design.inputs if name != CLOCK}  # fmt: skip
    for _ in range(CYCLES):
        for name in now:
            signal = design.ports[name]
            if name in clocks:
                continue
            if name in design.edges or _is_reset(name, signal):
                active = int(getattr(signal, "active", not _idle_level(design, name)))
                now[name] = active if rng.random() < 0.06 else 1 - active
            elif rng.random() < 0.7:
                now[name] = drawn(name)
        group = [dict(now)]
        if CLOCK not in design.inputs:
            for name in clocks * 2:
                now[name] ^= 1
                group.append(dict(now))
        yield group


def _holds(signal: Any, value: int) -> bool:
    low, high = signal.min, signal.max
    return not isinstance(initial(signal), EnumItemType) and (
        low is None or high is None or low <= 0 <= value < high
    )


def _idle_level(design: Design, name: str) -> int:
    """Return the level of an input before its active edge."""
    if name in design.edges:
        return int("posedge" not in design.edges[name])
    return int(initial(design.ports[name]) or 0)


def _legal_part(
    design: Design, groups: Sequence[Group], first: bool
) -> tuple[Trace | None, str | None]:
    """Return a trace of the groups that the design accepts; others are omitted."""
    left, said, fruitless = list(groups), None, 0
    for _ in range(RETRIES):
        rows = _rows(design, left, first)
        trace, said = _simulated(design, [row for _, row in rows])
        if said is None:
            return trace, None
        done = 0 if trace is None else len(trace.rows)
        if trace is not None and done >= ENOUGH:
            return trace, said
        left.pop(rows[min(done, len(rows) - 1)][0])
        fruitless = 0 if done > 1 else fruitless + 1
        if not left or fruitless > FRUITLESS:
            break
    return None, said


def _rows(design: Design, groups: Sequence[Group], first: bool) -> list[tuple[int, Vector]]:
    """Return the inputs of each row, and its group.

    If requested, every level has just changed in the ``first`` row.
    """
    if not groups:
        return []
    edges = [name for name in design.edges if name in groups[0][0]]
    now = dict(groups[0][0])
    if first:
        now = {name: _nonzero(design.ports[name], value) for name, value in now.items()}
    now |= {name: _idle_level(design, name) for name in edges}
    rows = [(0, dict(now))]
    for number, vector in ((i, vector) for i, group in enumerate(groups) for vector in group):
        levels = {name: value for name, value in vector.items() if name not in edges}
        if any(now[name] != value for name, value in levels.items()) or CLOCK in design.inputs:
            now |= levels
            rows.append((number, dict(now)))
        for name in edges:
            if now[name] != vector[name]:
                now[name] = vector[name]
                rows.append((number, dict(now)))
        if len(rows) >= MOST_ROWS:
            break
    return rows


def _nonzero(signal: Any, bits: int) -> int:
    if bits or isinstance(initial(signal), EnumItemType):
        return bits
    if signal.max is None:
        return 1
    return 1 if signal.max > 1 else (signal.max - 1 or signal.min) & ((1 << len(signal)) - 1)


def _before(design: Design, name: str, row: Vector) -> int | None:
    """Return an input before the first row: a level changes there, an edge does not.

    Verilator then has 0, and VHDL an undefined value.
    """
    signal = design.ports[name]
    if name in design.edges or name not in row:
        return row.get(name, 0)
    if isinstance(initial(signal), EnumItemType) or isinstance(signal, TristateSignal):
        return None
    values = [0] if _holds(signal, 0) else [int(signal.min), int(signal.max) - 1]
    bits = [value & ((1 << (len(signal) or 1)) - 1) for value in values]
    return next((each for each in bits if each != row[name]), bits[0])


def _simulated(design: Design, rows: list[Vector]) -> tuple[Trace | None, str | None]:
    """Return the trace of a design alone, as far as it runs, and the reason of an early end."""
    if not rows:
        return None, None
    args = design.copied({name: _before(design, name, rows[0]) for name in design.inputs})
    copy = Design(design.instance, design.function, args)
    ports = {name: port for name, port in copy.ports.items() if name != CLOCK}
    clock = copy.ports.get(CLOCK) if CLOCK in design.inputs else None
    if clock is None and CLOCK in copy.ports:
        return None, "it drives its clock"
    samples: list[tuple[int, ...]] = []

    def apply(row: Vector) -> None:
        for name, bits in row.items():
            ports[name].next = as_value(ports[name], bits)

    def bench() -> Any:
        dut = design.build(args)

        def stimulus() -> Any:
            for row in rows:
                apply(row)
                yield delay(5)
                samples.append(tuple(map(bits_of, ports.values())))
                if clock is not None:
                    clock.next = True
                yield delay(5)
                if clock is not None:
                    clock.next = False
            raise StopSimulation

        return dut, instance(stimulus)

    said = None
    with own_signals([*copy.ports.values()]), redirect_stdout(io.StringIO()):
        simulation = None
        try:
            with at_most(SECONDS):
                random.seed(SEED)
                simulation = block(bench)()
                simulation.run_sim(quiet=1)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        finally:
            if simulation is not None and simulation.sim is not None:
                simulation.quit_sim()
    traced = tuple(
        TracedPort(name, len(port) or 1, name in design.inputs) for name, port in ports.items()
    )
    if not samples:
        return None, said
    return Trace(design.function, args, traced, tuple(samples)), said


def watch(design: Design) -> Iterator[Any]:
    """Return a generator for a simulation of the bench, which notes each change of the inputs."""
    watched = [design.ports[name] for name in design.inputs]
    if not watched:
        return
    while True:
        design.vectors.append(tuple(map(bits_of, watched)))
        if len(design.vectors) > 4 * MOST_ROWS:
            return
        yield tuple(watched)
