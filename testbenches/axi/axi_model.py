"""The registers of an AXI shell as a model in Python: what each access must be answered.

Written from the register map and ``docs/axi.md``, for a top whose streams stay silent: a run, once
started, waits for its kernels until a reset or an abort.
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
ABORT_LATENCY = 2  # cycles from the response to an abort to an engine as after reset


class RegisterModel:
    """Registers after reset. Times are the cycles in which responses become valid.

    Attributes:
        seen: how often each kind of access was answered.
    """

    def __init__(self, registers: RegisterMap) -> None:
        self._map = registers
        self._values = {each.name: each.reset for each in registers.registers}
        self._started_at: int | None = None
        self._ended_at: int | None = None
        self._aborted_at: int | None = None
        self.seen: Counter[str] = Counter()

    def write(self, t: int, address: int, data: int, strobe: int) -> int:
        """Response to a write that is answered in cycle ``t``."""
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
        """What the shell keeps of a run is gone at once, the run itself a little later."""
        self._values["error"] = self._values["interrupt"] = 0
        if self._ended_at is None:
            self._ended_at = t + ABORT_LATENCY
        self._aborted_at = t
        self._count("abort", OKAY)

    def _locked(self, t: int) -> bool:
        """Whether a write that is answered in cycle ``t`` finds a run, or one being aborted."""
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
        """Response and word of a read that is answered in cycle ``t``."""
        place = address // WORD_BYTES
        if place >= len(self._map.registers):
            return self._count("read of nothing", SLVERR), 0
        self._count("read", OKAY)
        register = self._map.registers[place]
        before = t - 1  # what a read shows was so the cycle before its response
        # busy rises the cycle after start, the counter of kernel_load another one later.
        running = -1 if self._started_at is None else before - self._started_at - 1
        if self._ended_at is not None and before >= self._ended_at:
            running = -1
        if register.name == "status":
            return OKAY, (BUSY if running >= 0 else 0) | ABORTING * self._aborting(before)
        if register.name == "status_kernel_load":
            return OKAY, max(running, 0)
        return OKAY, self._values[register.name]
