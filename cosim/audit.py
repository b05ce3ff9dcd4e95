"""The audit of a forward run: its bits, its words per port, its cycles by cause.

Words are counted four ways that share no code: by formula, by walking the schedule, by registers
in the hardware, by monitors on its pins; and a fifth time from a waveform, where one was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merp.cosim.record import Record
from merp.models.params.design import Design
from merp.models.params.shape import Shape
from merp.models.traffic import closed_form, counter
from merp.testbenches.forward_run import PORTS

COUNTS = ("closed_form", "counter", "hardware", "monitor")
STALLS = ("input", "output", "hazard")
SUMMED = ("total", "kernel_load", "issue", "fill", "drain", "useful")  # of status
WRITE_CYCLES = 1  # from the last kernel or bias word on the pins to its place in a memory


@dataclass(frozen=True)
class Audit:
    """What was found, over one or more runs on one design.

    Attributes:
        words_compared: output words compared with the golden. mismatches: those that differ, are
            missing or too many.
        ports: words by port and way of counting.
        cycles: hardware cycle counters by name, stalls as ``stall_input`` and so on.
        operations: two per multiply-add. ideal: cycles with every CU useful in each.
        slots: CU slots issued, useful or not. word_bytes: bytes of an element.
        failures: every check that did not hold, one line each.
        seconds: simulation, without the build.
    """

    words_compared: int
    mismatches: int
    ports: Mapping[str, Mapping[str, int]]
    cycles: Mapping[str, int]
    operations: int
    ideal: float
    slots: int
    word_bytes: int
    failures: tuple[str, ...]
    seconds: float

    @property
    def bit_exact(self) -> bool:
        """Whether words were compared and all are equal."""
        return self.words_compared > 0 and self.mismatches == 0

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return not self.failures

    @property
    def efficiency(self) -> float:
        """Ideal cycles over all cycles from the first map word to the last output word."""
        return self.ideal / self.cycles["total"] if self.cycles["total"] else 0.0

    @property
    def slot_efficiency(self) -> float:
        """Useful CU slots over all CU slots that were issued."""
        return self.cycles["useful"] / self.slots if self.slots else 0.0

    def mb_per_gflop(self, ports: Sequence[str]) -> float:
        """Megabytes seen on the pins of ``ports`` for 10^9 operations."""
        words = sum(self.ports[port]["monitor"] for port in ports)
        return words * self.word_bytes / self.operations * 1000


def audit(
    record: Record,
    golden: NDArray[np.uint32],
    shape: Shape,
    images: int,
    design: Design,
    waveform: Mapping[str, int] | None = None,
) -> Audit:
    """Check the record of one run against everything that is known about it.

    Args:
        record: of the run, from any engine.
        golden: (images, pooled_rows, pooled_columns, m) words.
        shape: the group that was run. images: how many. design: what it ran on.
        waveform: transfers by stream, from ``waveform.transfers``.
    """
    words = record.words[PORTS["map_out"]]
    compared = min(words.size, golden.size)
    differ = np.flatnonzero(words[:compared] != golden.reshape(-1)[:compared])
    mismatches = differ.size + abs(words.size - golden.size)
    failures = list(record.faults)
    if words.size != golden.size:
        failures.append(f"{words.size} words came out, not {golden.size}")
    if differ.size:
        first = int(differ[0])
        place = tuple(int(i) for i in np.unravel_index(first, golden.shape))
        failures.append(
            f"{differ.size} of {compared} words differ, the first at (image, row, column, map) "
            f"{place}: {int(words[first]):#x} instead of {int(golden.reshape(-1)[first]):#x}"
        )
    if compared == 0:
        failures.append("no word was compared")
    ports = _ports(record, shape, images, design, waveform)
    failures += [
        f"port {port}: counts differ: " + ", ".join(f"{way} {n}" for way, n in ways.items())
        for port, ways in ports.items()
        if len(set(ways.values())) != 1
    ]
    status = {name.removeprefix("status_"): value for name, value in record.status.items()}
    cycles = {name: status[name] for name in (*SUMMED, *(f"stall_{cause}" for cause in STALLS))}
    failures += _cycle_failures(record, cycles, shape, images, design)
    if status["framing_error"]:
        failures.append("framing_error: an input's last did not come with its last word")
    return Audit(
        words_compared=compared,
        mismatches=mismatches,
        ports=ports,
        cycles=cycles,
        operations=2 * shape.macs(images),
        ideal=shape.macs(images) / (shape.k**2 * design.n_cu),
        slots=cycles["issue"] * design.n_cu,
        word_bytes=-(-design.fmt.width // 8),
        failures=tuple(failures),
        seconds=record.seconds,
    )


def _ports(
    record: Record,
    shape: Shape,
    images: int,
    design: Design,
    waveform: Mapping[str, int] | None,
) -> dict[str, dict[str, int]]:
    formula = closed_form.port_words(shape, images)
    walked = counter.port_words(shape, images, design)
    ports = {
        port: {
            "closed_form": formula[port],
            "counter": walked[port],
            "hardware": record.status[f"status_{port}"],
            "monitor": record.transfers[stream],
        }
        for port, stream in PORTS.items()
    }
    if waveform is not None:
        for port, stream in PORTS.items():
            ports[port]["waveform"] = waveform[stream]
    return ports


def _cycle_failures(
    record: Record, cycles: Mapping[str, int], shape: Shape, images: int, design: Design
) -> list[str]:
    """Every cycle counter against what the others, the pins or the shape say it must be."""
    causes = ("issue", "fill", "drain", *(f"stall_{cause}" for cause in STALLS))
    first_map, last_out = record.first[PORTS["map_in"]], record.last[PORTS["map_out"]]
    last_load = max(record.last[PORTS["kernel"]], record.last[PORTS["bias"]])
    windows = shape.n * shape.out_rows * shape.out_columns * images
    seen = last_out - first_map + 1
    if not _every_position_counts(shape):
        # The engine computes positions after the last word that pooling lets out.
        seen = max(seen, cycles["total"])
    wanted = {
        "total, from its causes": ("total", sum(cycles[cause] for cause in causes)),
        "total, on the pins": ("total", seen),
        "kernel_load, on the pins": ("kernel_load", last_load + WRITE_CYCLES),
        "issue": ("issue", windows * -(-shape.m // design.n_cu)),
        "useful": ("useful", windows * shape.m),
    }
    return [
        f"cycles {what}: {cycles[name]} instead of {value}"
        for what, (name, value) in wanted.items()
        if cycles[name] != value
    ]


def _every_position_counts(shape: Shape) -> bool:
    """Whether the last position lies in a pooling window, so that the last word waits for it."""
    if shape.pool is None:
        return True
    covered = [
        (pooled - 1) * shape.pool.stride + shape.pool.window
        for pooled in (shape.pooled_rows, shape.pooled_columns)
    ]
    return covered == [shape.out_rows, shape.out_columns]


def combine(audits: Sequence[Audit]) -> Audit:
    """One audit of several runs: words, cycles and operations are summed, every failure is kept.

    Raises:
        ValueError: there are none.
    """
    if not audits:
        raise ValueError("nothing to combine")
    first = audits[0]
    return Audit(
        words_compared=sum(a.words_compared for a in audits),
        mismatches=sum(a.mismatches for a in audits),
        ports={
            port: {way: sum(a.ports[port][way] for a in audits) for way in ways}
            for port, ways in first.ports.items()
        },
        cycles={name: sum(a.cycles[name] for a in audits) for name in first.cycles},
        operations=sum(a.operations for a in audits),
        ideal=sum(a.ideal for a in audits),
        slots=sum(a.slots for a in audits),
        word_bytes=first.word_bytes,
        failures=tuple(failure for a in audits for failure in a.failures),
        seconds=sum(a.seconds for a in audits),
    )
