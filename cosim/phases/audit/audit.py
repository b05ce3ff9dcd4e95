"""The audit of a run, of any phase: its bits, its words per port, its cycles by cause.

Words are counted in four ways that share no code: by formula, by walking the schedule, by hardware
registers, and by monitors on the pins. If a waveform was written, it gives a fifth count. A real
board has no monitor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from merp.cosim.engines.record import RunRecord
from merp.cosim.phases.expectation import Expectation, ExpectedHalf
from merp.models.base.ordered_sum import ordered_sum
from merp.models.memory.bus_record import BusRecord, total_of

COUNTS = ("closed_form", "counter", "hardware", "monitor")
"""Ways of counting the words of a port, in every run."""

BUS = "bus"
"""A further way, in runs from a memory."""

WRITE_CYCLES = 1  # from the last kernel or bias word on the pins to its write to a memory


@dataclass(frozen=True)
class Audit:
    """Findings of one or more runs on one design.

    Attributes:
        words_compared: output words compared with the golden model.
        mismatches: output words that differ, are missing or are surplus.
        ports: words by port and way of counting. A port that connects two engines on a chip is not
            a pin. For such a port, ``neighbour`` replaces the monitor's count.
        cycles: hardware cycle counters by name, stalls last, as ``stall_input`` and so on. Counters
            of a half have its name as a prefix, as ``propagation_total``.
        operations: two per multiply-add.
        ideal: number of cycles if every CU were useful in every cycle.
        slots: issued CU slots, useful or not.
        bytes: bytes on the pins, by port; on a real board, by its own counters.
        maps: the ports that are included in the count ``maps``.
        failures: every failed check, one line each.
        seconds: duration of the simulation, without the build.
        bus: traffic on the memory bus, if each run was a list of its own.
    """

    words_compared: int
    mismatches: int
    ports: Mapping[str, Mapping[str, int]]
    cycles: Mapping[str, int]
    operations: int
    ideal: float
    slots: int
    bytes: Mapping[str, int]
    maps: tuple[str, ...]
    failures: tuple[str, ...]
    seconds: float
    bus: BusRecord | None = None

    @property
    def bit_exact(self) -> bool:
        """Whether words were compared and all are equal."""
        return self.words_compared > 0 and self.mismatches == 0

    @property
    def passed(self) -> bool:
        """Whether every check succeeded."""
        return not self.failures

    @property
    def whole(self) -> int:
        """All cycles, including the cycles in which kernels are loaded before the start."""
        return self.cycles["total"] + self.cycles.get("kernel_load", 0)

    @property
    def efficiency(self) -> float:
        """Ideal cycles divided by all cycles from the first map word to the last output word."""
        return self.ideal / self.cycles["total"] if self.cycles["total"] else 0.0

    @property
    def slot_efficiency(self) -> float:
        """Useful CU slots divided by all issued CU slots."""
        return self.cycles["useful"] / self.slots if self.slots else 0.0

    @property
    def moved(self) -> dict[str, int]:
        """Bytes on the pins of each port that moved any."""
        return {port: count for port, count in self.bytes.items() if count}

    def mb_per_gflop(self, ports: Sequence[str]) -> float | None:
        """Return the megabytes on the pins of ``ports`` per 10^9 operations; None without any."""
        if not self.operations:
            return None
        moved = self.moved
        return sum(moved.get(port, 0) for port in ports) / self.operations * 1000


def audit(
    record: RunRecord,
    expected: Expectation,
    waveform: Mapping[str, int] | None = None,
    joined: Mapping[str, int] | None = None,
) -> Audit:
    """Check the record of one run against its expectation.

    Args:
        record: record of the run, from any engine.
        expected: the expectation of the pass.
        waveform: transfers by stream, from ``waveform.transfers``.
        joined: the ports that are not pins, of an engine among others on a chip. Each has the word
            count of the neighbour at its other end. In this case start and end of the engine are
            not visible from outside.
    """
    inside = joined or {}
    pins = {name: port for name, port in expected.ports.items() if name not in inside}
    failures = list(record.outcome.faults)
    compared = mismatches = 0
    for name, port in pins.items():
        if port.golden is None:
            continue
        words = record.words(port.stream)
        both = min(words.size, port.golden.size)
        differing = words[:both] != port.golden.reshape(-1)[:both]
        if port.meant is not None:
            meant = port.meant.reshape(-1)[:both]
            differing &= meant
            compared += int(np.count_nonzero(meant))
        else:
            compared += both
        differ = np.flatnonzero(differing)
        mismatches += differ.size + abs(words.size - port.golden.size)
        if words.size != port.golden.size:
            failures.append(f"{name}: {words.size} output words, not {port.golden.size}")
        if differ.size:
            first = int(differ[0])
            place = tuple(int(i) for i in np.unravel_index(first, port.golden.shape))
            failures.append(
                f"{name}: {differ.size} of {both} words differ, the first at {place}: "
                f"{int(words[first]):#x} instead of {int(port.golden.reshape(-1)[first]):#x}"
            )
    if compared == 0 and joined is None:
        failures.append("no word was compared")
    seen = bool(record.outcome.transfers)  # whether a monitor saw the pins
    ports = _ports(record, expected, waveform, inside)
    failures += [
        f"port {port}: counts differ: " + ", ".join(f"{way} {n}" for way, n in ways.items())
        for port, ways in ports.items()
        if len(set(ways.values())) != 1
    ]
    status = {name.removeprefix("status_"): value for name, value in record.outcome.status.items()}
    cycles = {name: status[name] for name in cycle_names(expected)}
    failures += _differing(cycles, _wanted(cycles, expected))
    failures += _differing(status, {name: (name, n) for name, n in expected.known.items()})
    if joined is None and seen:
        failures += _differing(cycles, _wanted_of_pins(record, cycles, expected))
    for name, half in expected.halves.items():
        failures += _half_failures(record, status, name, half, expected)
    if status["framing_error"]:
        failures.append("framing_error: the last flag of an input is not at its last word")
    return Audit(
        words_compared=compared,
        mismatches=mismatches,
        ports=ports,
        bytes={
            name: ports[name]["monitor" if seen else "hardware"] * port.word_bytes
            for name, port in pins.items()
        },
        maps=tuple(name for name, port in expected.ports.items() if port.maps),
        cycles=cycles,
        operations=expected.work.operations,
        ideal=expected.work.ideal,
        slots=cycles["issue"] * expected.work.n_cu,
        failures=tuple(failures),
        seconds=record.outcome.seconds,
        bus=record.outcome.bus,
    )


def cycle_names(expected: Expectation) -> tuple[str, ...]:
    """Return the cycle counters in the audit of a pass: stalls last, then counters of halves."""
    ranked = sorted(expected.counters, key=lambda counter: counter.stall)
    names = [each.name for each in ranked]
    return (*names, *(f"{half}_{name}" for half in expected.halves for name in names))


def _parts(expected: Expectation) -> list[str]:
    """Return the counters whose sum is ``total``."""
    return [each.name for each in expected.counters if each.part]


def _ports(
    record: RunRecord,
    expected: Expectation,
    waveform: Mapping[str, int] | None,
    inside: Mapping[str, int],
) -> dict[str, dict[str, int]]:
    ports = {
        name: {
            "closed_form": port.closed_form,
            "counter": port.counter,
            "hardware": record.outcome.status[f"status_{name}"],
            **({"neighbour": inside[name]} if name in inside else {}),
            **(
                {"monitor": record.outcome.transfers[port.stream]}
                if record.outcome.transfers and name not in inside
                else {}
            ),
            **({BUS: record.outcome.crossed[port.stream]} if record.outcome.crossed else {}),
        }
        for name, port in expected.ports.items()
    }
    if waveform is not None:
        for name, port in expected.ports.items():
            ports[name]["waveform"] = waveform[port.stream]
    return ports


def _wanted(cycles: Mapping[str, int], expected: Expectation) -> dict[str, tuple[str, int]]:
    """Return the expected cycle counters according to the other counters and the shape."""
    return {
        "total, from its causes": ("total", sum(cycles[part] for part in _parts(expected))),
        "issue": ("issue", expected.work.issue),
        "useful": ("useful", expected.work.useful),
    }


def _wanted_of_pins(
    record: RunRecord, cycles: Mapping[str, int], expected: Expectation
) -> dict[str, tuple[str, int]]:
    """Return the expected cycle counters according to the pins."""
    streams = {name: port.stream for name, port in expected.ports.items()}
    ended = max(record.outcome.last[streams[name]] for name in expected.last)
    began = 1 if expected.first is None else record.outcome.first[streams[expected.first]]
    seen = ended - began + 1
    if expected.early_end:
        # The engine computes positions after the last word that pooling outputs.
        seen = max(seen, cycles["total"])
    wanted = {"total, on the pins": ("total", seen)}
    if "kernel_load" in cycles:
        loaded = [
            record.outcome.last[streams[name]] + behind + WRITE_CYCLES
            for name, behind in expected.loads.items()
        ]
        wanted["kernel_load, on the pins"] = "kernel_load", max(loaded, default=0)
    return wanted


def _half_failures(
    record: RunRecord,
    status: Mapping[str, int],
    name: str,
    half: ExpectedHalf,
    expected: Expectation,
) -> list[str]:
    """Check the counters of a half in the same way, with the counters of its pass."""
    wanted = {
        f"{name} total, from its causes": (
            f"{name}_total",
            sum(status[f"{name}_{part}"] for part in _parts(expected)),
        ),
        f"{name} issue": (f"{name}_issue", half.work.issue),
        f"{name} useful": (f"{name}_useful", half.work.useful),
        f"{name} kernel_load": (f"{name}_kernel_load", status["kernel_load"]),
    }
    if half.last is not None and record.outcome.transfers:
        begun = record.outcome.first[expected.ports[half.first].stream]
        ended = record.outcome.last[expected.ports[half.last].stream]
        wanted[f"{name} total, on the pins"] = f"{name}_total", ended - begun + 1
    return _differing(status, wanted)


def _differing(counters: Mapping[str, int], wanted: Mapping[str, tuple[str, int]]) -> list[str]:
    """Return the differences between counters and expected values."""
    return [
        f"cycles {what}: {counters[name]} instead of {value}"
        for what, (name, value) in wanted.items()
        if counters[name] != value
    ]


def combine(audits: Sequence[Audit]) -> Audit:
    """Combine the audits of several runs: words, cycles and operations are summed.

    All failures are included. Runs of different phases have different ports and counters. Words and
    bytes of ports with the same name are summed. The word size of such a port may vary between
    layers.

    Raises:
        ValueError: there are no audits.
    """
    if not audits:
        raise ValueError("no audits to combine")
    ports: dict[str, dict[str, int]] = {}
    moved: Counter[str] = Counter()
    cycles: Counter[str] = Counter()
    for each in audits:
        moved.update(each.bytes)
        cycles.update(each.cycles)
        for port, ways in each.ports.items():
            summed = ports.setdefault(port, dict.fromkeys(ways, 0))
            for way, words in ways.items():
                summed[way] = summed.get(way, 0) + words
    return Audit(
        words_compared=sum(a.words_compared for a in audits),
        mismatches=sum(a.mismatches for a in audits),
        ports=ports,
        cycles=dict(cycles),
        operations=sum(a.operations for a in audits),
        ideal=ordered_sum(a.ideal for a in audits),
        slots=sum(a.slots for a in audits),
        bytes=dict(moved),
        maps=tuple(dict.fromkeys(port for a in audits for port in a.maps)),
        failures=tuple(failure for a in audits for failure in a.failures),
        seconds=ordered_sum(a.seconds for a in audits),
        bus=total_of(a.bus for a in audits),
    )
