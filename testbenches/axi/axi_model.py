"""A Python model of the registers of an AXI shell: it calculates the answer to each access.

It is written from the register map and ``docs/axi.md``. It models a top whose streams stay silent.
A started run therefore waits for its kernels until a reset or an abort.
"""

from __future__ import annotations

from collections import Counter

from merp.models.base.register_map import (
    ABORT_CYCLES,
    CONTROL,
    ERRORS,
    STATUS,
    WORD_BYTES,
    RegisterMap,
)

OKAY, SLVERR = 0, 2
ILLEGAL_VALUE, WRITE_REFUSED, START_REFUSED = (1 << i for i in range(len(ERRORS)))
BUSY, ABORTING = (1 << STATUS.index(name) for name in ("busy", "aborting"))
START, ABORT = (1 << i for i in range(len(CONTROL)))
ABORT_LATENCY = 2  # cycles from the response to an abort until the engine is reset


class RegisterModel:
    """The registers, beginning after reset. Times are cycles in which responses become valid.

    Attributes:
        seen: number of answered accesses of each kind.
    """

    def __init__(self, registers: RegisterMap) -> None:
        self._map = registers
        self._values = {each.name: each.reset for each in registers.registers}
        self._started_at: int | None = None
        self._ended_at: int | None = None
        self._aborted_at: int | None = None
        self.seen: Counter[str] = Counter()

    def write(self, t: int, address: int, data: int, strobe: int) -> int:
        """Return the response to a write that is answered in cycle ``t``."""
        place = address // WORD_BYTES
        if place >= len(self._map.registers) or self._map.registers[place].access == "ro":
            return self._count("write to nothing", SLVERR)
        register = self._map.registers[place]
        old = self._values[register.name]
        written = sum(0xFF << 8 * i for i in range(WORD_BYTES) if strobe >> i & 1)
        if register.name == "control":
            if data & written & ABORT:
                self._abort(t)
            elif data & written & START:
                self._start(t)
        elif register.access == "w1c":
            self._values[register.name] = old & ~(data & written)
        elif not strobe:
            self._count("write without bytes", OKAY)
        elif self._locked(t) and place >= self._map.first_setting:
            self._refuse(WRITE_REFUSED)
        else:
            value = old & ~written | data & written
            if register.least <= value <= register.most:
                self._values[register.name] = value
                self._count("write", OKAY)
            else:
                self._refuse(ILLEGAL_VALUE)
        return OKAY

    def _start(self, t: int) -> None:
        if self._locked(t) or self._values["error"]:
            self._refuse(START_REFUSED)
        else:
            self._started_at, self._ended_at = t, None
            self._count("start", OKAY)

    def _abort(self, t: int) -> None:
        """Abort: clear error and interrupt immediately, and the run ``ABORT_LATENCY`` later."""
        self._values["error"] = self._values["interrupt"] = 0
        if self._ended_at is None:
            self._ended_at = t + ABORT_LATENCY
        self._aborted_at = t
        self._count("abort", OKAY)

    def _locked(self, t: int) -> bool:
        """Whether a run is active or being aborted for a write answered in cycle ``t``."""
        return self._aborting(t - 1) or (self._started_at is not None and self._ended_at is None)

    def _aborting(self, t: int) -> bool:
        return self._aborted_at is not None and 0 <= t - self._aborted_at < ABORT_CYCLES

    def _refuse(self, error: int) -> None:
        self._values["error"] |= error
        self._count(ERRORS[error.bit_length() - 1], OKAY)

    def _count(self, kind: str, response: int) -> int:
        self.seen[kind] += 1
        return response

    def read(self, t: int, address: int) -> tuple[int, int]:
        """Return the response and the word of a read that is answered in cycle ``t``."""
        place = address // WORD_BYTES
        if place >= len(self._map.registers):
            return self._count("read of nothing", SLVERR), 0
        self._count("read", OKAY)
        register = self._map.registers[place]
        before = t - 1  # a read returns the state of the cycle before its response
        # busy rises one cycle after start; the counter of kernel_load counts one cycle later.
        running = -1 if self._started_at is None else before - self._started_at - 1
        if self._ended_at is not None and before >= self._ended_at:
            running = -1
        if register.name == "status":
            return OKAY, (BUSY if running >= 0 else 0) | ABORTING * self._aborting(before)
        if register.name == "status_kernel_load":
            return OKAY, max(running, 0)
        return OKAY, self._values[register.name]
