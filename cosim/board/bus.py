"""Counters of a board's bus to memory."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass

from merp.models.memory.bus_record import Waits
from merp.models.memory.params.memory_port import LONGEST_BURST

_NUMBER = ctypes.c_uint64

RULES = (
    "AR changed before its transfer",
    "AW changed before its transfer",
    "W changed before its transfer",
    "a burst crosses 4 KiB",
    "a burst is not INCR of whole beats",
    "WLAST is in the wrong place, or a beat of W has no request",
)
"""Rules of AXI4 that a board checks in every cycle: AMBA AXI (ARM IHI 0022), A3.2 to A3.4."""

MOST_STREAMS, MOST_IDS = 128, 32
"""Streams of the engines of a board, and IDs of a direction on its bus, at most."""

WINDOWS = 64
"""Windows in which bytes are counted, at most; as in ``board.cpp``."""


@dataclass(frozen=True)
class Direction:
    """Traffic in one direction.

    Attributes:
        beats: transfers on R or W.
        bytes: their bytes; of W, those whose strobe was set.
        bursts: number of requests by their length in beats.
        waiting: requests without their last beat or their response.
        busy: cycles in which a request was on its channel, or waited for its end.
        latency: cycles from a request to its first beat (read) or its response (write).
        row_hits, row_misses: column accesses of the memory, which has one for each beat. They come
            from the commands of the controller. The first access to a row after its activation is
            a miss, the next ones are hits. A refresh closes rows, so a miss follows it. 0 for a
            memory without rows.
        windows: bytes by time, in windows of ``Bus.window`` cycles each; the last one can be
            shorter.
    """

    beats: int
    bytes: int
    bursts: Mapping[int, int]
    waiting: int
    busy: int
    latency: Waits
    row_hits: int = 0
    row_misses: int = 0
    windows: tuple[int, ...] = ()


@dataclass(frozen=True)
class Bus:
    """Traffic between accelerator and memory.

    Attributes:
        cycles: cycles in which this was counted.
        busy: cycles in which either direction was busy.
        read, write: the directions.
        outside: bursts that left the memory.
        outside_address: byte address of the first of them.
        window: cycles of a window, a power of two. It doubles whenever ``WINDOWS`` are full; pairs
            of windows then become one. 0 without windows.
    """

    cycles: int
    busy: int
    read: Direction
    write: Direction
    outside: int
    outside_address: int
    window: int = 0


class DirectionCounters(ctypes.Structure):
    """Counters of a direction, as in ``board.cpp``."""

    _fields_ = (
        *((name, _NUMBER) for name in ("beats", "bytes", "busy", "waiting", "answered")),
        *((f"latency_{name}", _NUMBER) for name in ("sum", "least", "most")),
        *((name, _NUMBER) for name in ("row_hits", "row_misses")),
        ("bursts", _NUMBER * (LONGEST_BURST + 1)),
        ("windows", _NUMBER * WINDOWS),
    )

    def frozen(self, windows: int) -> Direction:
        """Return the present counts, with the first ``windows`` windows."""
        answered = self.answered
        return Direction(
            beats=self.beats,
            bytes=self.bytes,
            bursts={beats: number for beats, number in enumerate(self.bursts) if number},
            waiting=self.waiting,
            busy=self.busy,
            latency=Waits(
                answered, self.latency_sum, self.latency_least if answered else 0, self.latency_most
            ),
            row_hits=self.row_hits,
            row_misses=self.row_misses,
            windows=tuple(self.windows[:windows]),
        )


class Moves(ctypes.Structure):
    """Elements of a stream of an engine, as in ``board.cpp``.

    Attributes:
        words: elements that moved since the engine began.
        first, last: cycle of the first and the last one; the engine began in cycle 0.
    """

    _fields_ = tuple((name, _NUMBER) for name in ("words", "first", "last"))


class Crossed(ctypes.Structure):
    """Beats and bytes of one direction on the bus by the ID of their burst, as in ``board.cpp``.

    Bytes of writes are those with a strobe.
    """

    _fields_ = tuple((name, _NUMBER * MOST_IDS) for name in ("beats", "bytes"))


class Pass(ctypes.Structure):
    """A pass of an engine, as in ``board.cpp``.

    Attributes:
        engine: its number.
        began: cycle since power-up in which it began.
        ended: cycles until its interrupt.
        streams: the streams of all engines; only those of this engine belong to the pass.
        read, write: traffic on the bus since this engine began; the IDs of its streams belong to
            the pass.
    """

    _fields_ = (
        *((name, _NUMBER) for name in ("engine", "began", "ended")),
        ("streams", Moves * MOST_STREAMS),
        ("read", Crossed),
        ("write", Crossed),
    )


class BusCounters(ctypes.Structure):
    """Counters of a bus, as in ``board.cpp``."""

    _fields_ = (
        *((name, _NUMBER) for name in ("cycles", "busy", "outside", "outside_address")),
        *((name, _NUMBER) for name in ("faults", "rule", "fault_cycle", "window")),
        ("read", DirectionCounters),
        ("write", DirectionCounters),
    )

    def frozen(self) -> Bus:
        """Return the present counts."""
        windows = -(-self.cycles // self.window)
        return Bus(
            cycles=self.cycles,
            busy=self.busy,
            read=self.read.frozen(windows),
            write=self.write.frozen(windows),
            outside=self.outside,
            outside_address=self.outside_address,
            window=self.window,
        )
