"""The host's side of an accelerator, whose lists only compare registers of engines."""

from collections.abc import Callable

import numpy as np

from merp.cosim.board.lists import Bytes
from merp.cosim.board.system import System
from merp.models.memory.params.commands import ENGINE, Failure, Operation

DONE = 2


class FakeAccelerator:
    """It plays commands EXPECT and END at once, and knows the constants of engines.

    Attributes:
        load: returns bytes of memory at an address.
        wired: called at each interrupt that is enabled.
    """

    def __init__(
        self, system: System, load: Callable[[int, int], Bytes], wired: Callable[[], object]
    ) -> None:
        self._system, self.load, self.wired = system, load, wired
        self.values = {each.offset: each.reset for each in system.host.registers}
        self.writes: list[tuple[str, int]] = []

    def read32(self, offset: int) -> int:
        """Return a register of the host."""
        return self.values[offset]

    def write32(self, offset: int, value: int) -> None:
        """Write a register of the host."""
        name = next(each.name for each in self._system.host.registers if each.offset == offset)
        self.writes.append((name, value))
        if name == "interrupt":
            self.values[offset] &= ~value
        elif name == "control":
            self.put(status=DONE, status_failure=self._play() if value & 1 else 6, interrupt=1)
            if self.get("interrupt_enable"):
                self.wired()
        else:
            self.values[offset] = value

    def get(self, name: str) -> int:
        """Return a register by its name."""
        return self.values[self._system.host[name].offset]

    def put(self, **values: int) -> None:
        """Set registers by their names."""
        self.values |= {self._system.host[name].offset: value for name, value in values.items()}

    def _play(self) -> int:
        data = self.load(self.get("list_low"), 4 * self.get("list_words"))
        words = iter(data.view(np.uint32).tolist())
        for number, head in enumerate(words, 1):
            self.put(status_commands=number)
            if head >> 24 == Operation.END:
                return Failure.NONE
            engine, index = divmod(head & 0xFFFF, ENGINE)
            registers = self._system.engines[engine].registers.registers
            if head >> 24 != Operation.EXPECT:
                return Failure.ILLEGAL
            if next(words) != registers[index].reset:
                return Failure.UNEXPECTED
        return Failure.SHORT
