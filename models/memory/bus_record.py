"""The record of the memory bus in lists of commands: bytes, bursts, rows, latency, bytes by time.

A board counts it. Engines without a memory have none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any


@dataclass(frozen=True, order=True)
class MemoryFacts:
    """A DDR memory of a board, whose controller has the clock of the accelerator.

    Attributes:
        module: name of its module.
        data_bits: bits of its data bus.
        clock_mhz: clock of controller and accelerator, in MHz.
        beat_bytes: bytes of a beat, the most that a cycle moves.
    """

    module: str
    data_bits: int
    clock_mhz: int
    beat_bytes: int

    @property
    def answer(self) -> dict[str, Any]:
        """The facts as JSON."""
        return {
            "module": self.module,
            "data_bits": self.data_bits,
            "clock_mhz": self.clock_mhz,
            "bytes_per_cycle": self.beat_bytes,
        }


@dataclass(frozen=True)
class Waits:
    """Cycles from requests to their answers.

    Attributes:
        answered: number of answers.
        total: sum over all answers.
        least, most: the shortest and the longest; 0 without answers.
    """

    answered: int = 0
    total: int = 0
    least: int = 0
    most: int = 0

    @property
    def mean(self) -> float:
        """The mean; 0 without answers."""
        return self.total / self.answered if self.answered else 0.0

    def __add__(self, other: Waits) -> Waits:
        """Return the waits of both."""
        if not self.answered or not other.answered:
            return self if self.answered else other
        return Waits(
            self.answered + other.answered,
            self.total + other.total,
            min(self.least, other.least),
            max(self.most, other.most),
        )

    @property
    def answer(self) -> dict[str, Any]:
        """The waits as JSON."""
        return {"least": self.least, "mean": self.mean, "most": self.most}


@dataclass(frozen=True, kw_only=True)
class DirectionRecord:
    """Traffic in one direction.

    Attributes:
        useful: bytes of elements, of commands and of records.
        padding: bytes of unused bits of words, and of free places of last words.
        partial: bytes of beats outside the words. Only reads have them, because strobes keep writes
            to the bytes of words.
        beats: beats on the bus.
        bursts: number of bursts by their length in beats.
        row_hits, row_misses: column accesses of the memory, one for each beat. The first access to
            a row after its activation is a miss.
        latency: cycles from a request to its first beat (read) or its response (write).
        windows: bytes by time; each window has the cycles of the record's ``window``.
    """

    useful: int = 0
    padding: int = 0
    partial: int = 0
    beats: int = 0
    bursts: Mapping[int, int] = field(default_factory=dict)
    row_hits: int = 0
    row_misses: int = 0
    latency: Waits = Waits()
    windows: tuple[int, ...] = ()

    @property
    def bytes(self) -> int:
        """Bytes on the bus: of whole beats in reads, with a strobe in writes."""
        return self.useful + self.padding + self.partial

    def plus(self, other: DirectionRecord, widths: tuple[int, int]) -> DirectionRecord:
        """Return the traffic of both.

        ``widths`` are the numbers of windows of each that become one.
        """
        one, another = _wider(self.windows, widths[0]), _wider(other.windows, widths[1])
        return DirectionRecord(
            useful=self.useful + other.useful,
            padding=self.padding + other.padding,
            partial=self.partial + other.partial,
            beats=self.beats + other.beats,
            bursts=dict(sorted((Counter(self.bursts) + Counter(other.bursts)).items())),
            row_hits=self.row_hits + other.row_hits,
            row_misses=self.row_misses + other.row_misses,
            latency=self.latency + other.latency,
            windows=tuple(map(sum, zip_longest(one, another, fillvalue=0))),
        )

    @property
    def answer(self) -> dict[str, Any]:
        """The traffic as JSON."""
        return {
            "bytes": self.bytes,
            "useful": self.useful,
            "padding": self.padding,
            "partial": self.partial,
            "beats": self.beats,
            "bursts": {str(beats): number for beats, number in self.bursts.items()},
            "row_hits": self.row_hits,
            "row_misses": self.row_misses,
            "latency": self.latency.answer,
            "windows": list(self.windows),
        }


def _wider(windows: Sequence[int], width: int) -> list[int]:
    return [sum(windows[at : at + width]) for at in range(0, len(windows), width)]


@dataclass(frozen=True, kw_only=True)
class BusRecord:
    """Traffic on the bus in one or several lists.

    Attributes:
        lists: number of lists.
        cycles: their cycles, from the first write of the host to the interrupt.
        window: cycles of a window, a power of two; 0 without windows. Windows begin with each list,
            so a window of several lists has the bytes of all of them at this distance.
        read, write: the directions.
        memories: the memories, each once.
    """

    lists: int
    cycles: int
    window: int
    read: DirectionRecord
    write: DirectionRecord
    memories: tuple[MemoryFacts, ...] = ()

    def __add__(self, other: BusRecord) -> BusRecord:
        """Return the traffic of the lists of both."""
        window = max(self.window, other.window)
        widths = (
            window // self.window if self.window else 1,
            window // other.window if other.window else 1,
        )
        return BusRecord(
            lists=self.lists + other.lists,
            cycles=self.cycles + other.cycles,
            window=window,
            read=self.read.plus(other.read, widths),
            write=self.write.plus(other.write, widths),
            memories=tuple(sorted({*self.memories, *other.memories})),
        )

    @property
    def answer(self) -> dict[str, Any]:
        """The record as JSON."""
        return {
            "memory": [each.answer for each in self.memories],
            "lists": self.lists,
            "cycles": self.cycles,
            "window": self.window,
            "read": self.read.answer,
            "write": self.write.answer,
        }


def add_to(so_far: dict[str, BusRecord], name: str, more: BusRecord | None) -> None:
    """Add the traffic of a list, if there is any, to the traffic of its name."""
    if more is not None:
        so_far[name] = so_far[name] + more if name in so_far else more


def total_of(records: Iterable[BusRecord | None]) -> BusRecord | None:
    """Return the traffic of records; None if there are none."""
    found: BusRecord | None = None
    for each in records:
        if each is not None:
            found = each if found is None else found + each
    return found
