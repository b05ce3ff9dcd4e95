"""The registers of an AXI shell as a model in Python: what each access must be answered.

Written from the register map and ``docs/axi.md``, for a top whose streams stay silent: a run, once
started, waits for its kernels until reset.
"""

from __future__ import annotations

from collections import Counter

from merp.models.params.register_map import ERRORS, FLAGS, WORD_BYTES, RegisterMap

OKAY, SLVERR = 0, 2
ILLEGAL_VALUE, WRITE_REFUSED, START_REFUSED = (1 << i for i in range(len(ERRORS)))
BUSY = 1 << FLAGS.index("busy")


class RegisterModel:
    """Registers after reset. Times are the cycles in which responses become valid.

    Attributes:
        seen: how often each kind of access was answered.
    """

    def __init__(self, registers: RegisterMap) -> None:
        self._map = registers
        self._values = {each.name: each.reset for each in registers.registers}
        self._started_at: int | None = None
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
            if data & written & 1:
                self._start(t)
        elif register.access == "w1c":
            self._values[register.name] = old & ~(data & written)
        elif not strobe:
            self._count("write without bytes", OKAY)
        elif self._started_at is not None and place >= self._map.first_setting:
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
        if self._started_at is not None or self._values["error"]:
            self._refuse(START_REFUSED)
        else:
            self._started_at = t
            self._count("start", OKAY)

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
        if self._started_at is not None:
            # busy rises the cycle after start, the counter of kernel_load another one later, and
            # what a read shows was so the cycle before its response.
            running = t - self._started_at - 2
            if register.name == "status":
                return OKAY, BUSY if running >= 0 else 0
            if register.name == "status_kernel_load":
                return OKAY, max(running, 0)
        return OKAY, self._values[register.name]
