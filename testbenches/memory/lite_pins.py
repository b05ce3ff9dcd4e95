"""Both sides of AXI4-Lite, one cycle at a time: a host that accesses registers, and registers."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from merp.models.memory.player import Registers
from merp.testbenches.memory.read_memory import OKAY, SLVERR


@dataclass
class LiteHost:
    """Accesses of a host, one after the other.

    Attributes:
        prefix: of the pins.
        answers: response and word of each access, in order.
    """

    prefix: str = "s_axi_"
    answers: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin without accesses."""
        self._queue: deque[tuple[int, int | None]] = deque()
        self._valid = {"aw": 0, "w": 0, "ar": 0}
        self._busy = False

    @property
    def idle(self) -> bool:
        """Whether every access has been answered."""
        return not self._queue and not self._busy

    def read(self, offset: int) -> None:
        """Read the register at a byte offset."""
        self._queue.append((offset, None))

    def write(self, offset: int, word: int) -> None:
        """Write the register at a byte offset."""
        self._queue.append((offset, word))

    def step(self, seen: Mapping[str, int]) -> dict[str, int]:
        """Take the transfers of a cycle, and return the pins of the next one."""
        if seen:
            for name in self._valid:
                if seen[f"{self.prefix}{name}valid"] and seen[f"{self.prefix}{name}ready"]:
                    self._valid[name] = 0
            if seen[f"{self.prefix}bvalid"]:
                self.answers.append((seen[f"{self.prefix}bresp"], 0))
                self._busy = False
            if seen[f"{self.prefix}rvalid"]:
                self.answers.append((seen[f"{self.prefix}rresp"], seen[f"{self.prefix}rdata"]))
                self._busy = False
        pins = {"bready": 1, "rready": 1}
        if self._queue and not self._busy:
            offset, word = self._queue.popleft()
            self._busy = True
            if word is None:
                self._valid["ar"] = 1
                pins["araddr"] = offset
            else:
                self._valid |= {"aw": 1, "w": 1}
                pins |= {"awaddr": offset, "wdata": word, "wstrb": 15}
        pins |= {f"{name}valid": valid for name, valid in self._valid.items()}
        return {self.prefix + name: value for name, value in pins.items()}


class LiteRegisters:
    """Registers that answer after up to four cycles.

    Args:
        registers: the registers, by their index.
        prefix: of the pins.
        seed: of the latencies.
    """

    def __init__(self, registers: Registers, prefix: str, seed: int = 1) -> None:
        self.registers, self.prefix, self.rng = registers, prefix, Random(seed)
        self._address: int | None = None
        self._data: int | None = None
        self._b: tuple[int, int] | None = None
        self._r: tuple[int, int, int] | None = None
        self._cycle = 0

    def step(self, seen: Mapping[str, int]) -> dict[str, int]:
        """Take the transfers of a cycle, and return the pins of the next one."""
        self._cycle += 1
        if seen:
            self._take({name: seen[self.prefix + name] for name in PINS})
        pins = {name: int(self.rng.random() < 0.7) for name in ("awready", "wready", "arready")}
        pins["awready"] &= self._address is None
        pins["wready"] &= self._data is None
        pins["arready"] &= self._r is None
        pins |= {"bvalid": 0, "rvalid": 0}
        if self._b and self._b[0] <= self._cycle:
            pins |= {"bvalid": 1, "bresp": self._b[1]}
        if self._r and self._r[0] <= self._cycle:
            pins |= {"rvalid": 1, "rresp": self._r[1], "rdata": self._r[2]}
        return {self.prefix + name: int(value) for name, value in pins.items()}

    def _take(self, pins: Mapping[str, int]) -> None:
        if pins["bvalid"] and pins["bready"]:
            self._b = self._address = self._data = None
        if pins["rvalid"] and pins["rready"]:
            self._r = None
        if pins["awvalid"] and pins["awready"]:
            self._address = pins["awaddr"]
        if pins["wvalid"] and pins["wready"]:
            self._data = pins["wdata"]
        due = self._cycle + self.rng.randint(0, 3)
        if self._address is not None and self._data is not None and self._b is None:
            accepted = self.registers.write(self._address // 4, self._data)
            self._b = due, OKAY if accepted else SLVERR
        if pins["arvalid"] and pins["arready"]:
            word = self.registers.read(pins["araddr"] // 4)
            self._r = due, OKAY if word is not None else SLVERR, word or 0


PINS = (
    "awaddr", "awvalid", "awready", "wdata", "wvalid", "wready", "bvalid", "bready", "bresp",
    "araddr", "arvalid", "arready", "rvalid", "rready", "rdata", "rresp",
)  # fmt: skip
