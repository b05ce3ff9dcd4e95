"""An engine of random lists: it takes and offers words at random rates."""

from collections import deque
from collections.abc import Mapping
from random import Random

from drawn_lists import UNITS
from list_golden import QUEUE, WORK, EngineRegisters, Word

from merp.testbenches.memory.lite_pins import LiteRegisters

Pins = Mapping[str, int]


class Engine:
    """An engine at the streams of a subsystem. It takes and offers words at random rates."""

    def __init__(self, name: str, size: int, rng: Random) -> None:
        self.name, self.size, self.rng = name, size, rng
        self.readers, self.writer = UNITS[name]
        self.registers = EngineRegisters()
        self.bus = LiteRegisters(self.registers, f"engines_{name}_", rng.getrandbits(32))
        self.rate = 1.0
        self._aborts = 0
        self._taken: dict[str, deque[Word]] = {each: deque() for each in self.readers}
        self._made: deque[int] = deque()
        self._left = dict.fromkeys(self.readers, 0)
        self._offered = False

    def step(self, pins: Pins) -> dict[str, int]:
        """Take the transfers of a cycle, and return the pins of the next one."""
        if pins:
            self._move(pins)
        busy = self.registers.left
        inputs = self.bus.step(pins)
        if self.registers.aborts > self._aborts:
            self._aborts = self.registers.aborts
            self._made.clear()
            self._offered = False
        if not self.registers.left or not busy:  # before a run, at its start, and behind it
            self._left = dict.fromkeys(self.readers, self.registers.left)
            for each in self._taken.values():
                each.clear()
        for name, taken in self._taken.items():
            wants = self._left[name] > 0 and len(taken) < QUEUE and self.rng.random() < self.rate
            inputs[f"streams_{name}_ready"] = int(wants)
        self._offered = bool(self._made) and (self._offered or self.rng.random() < self.rate)
        inputs[f"streams_{self.writer}_valid"] = int(self._offered)
        inputs[f"streams_{self.writer}_data"] = self._made[0] if self._offered else 0
        inputs[f"streams_{self.writer}_last"] = self.rng.getrandbits(1)
        return inputs

    def _move(self, pins: Pins) -> None:
        for name in self.readers:
            if pins[f"streams_{name}_valid"] and pins[f"streams_{name}_ready"]:
                keep = pins.get(f"streams_{name}_keep", -1)
                self._taken[name].append((pins[f"streams_{name}_data"], keep))
                self._left[name] -= 1
        if pins[f"streams_{self.writer}_valid"] and pins[f"streams_{self.writer}_ready"]:
            self._made.popleft()
            self._offered = False
            self.registers.count += 1
        if all(self._taken.values()) and len(self._made) < QUEUE:
            words = [taken.popleft() for taken in self._taken.values()]
            self._made.append(WORK[self.name](words, self.size))
            self.registers.left -= 1
        self.registers.pending = int(
            self.registers.pending or self._ended(self.registers.count, self.registers.words)
        )

    def _ended(self, count: int, words: int) -> bool:
        return count == words > 0 and not self._made and not self.registers.left
