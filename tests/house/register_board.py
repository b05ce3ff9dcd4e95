"""A board of registers and bytes without an accelerator, for drivers that need no answer."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from merp.cosim.board.buffers import Buffer


class RegisterBoard:
    """Registers that keep their words, and a memory.

    Attributes:
        registers: value of each register, by its offset.
        writes: offset and value of each write, in order.
        memory: the bytes from ``first`` on.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]], first: int, size: int) -> None:
        """``rows`` are the registers of the host, as in ``registers.json``."""
        self.offsets = {row["name"]: row["offset"] for row in rows}
        self.registers = {row["offset"]: row["reset"] for row in rows}
        self.writes: list[tuple[int, int]] = []
        self.first, self.memory = first, np.zeros(size, np.uint8)

    def read32(self, offset: int) -> int:
        """Return a register."""
        return self.registers[offset]

    def write32(self, offset: int, value: int) -> None:
        """Note a write."""
        assert offset in self.registers
        self.writes.append((offset, value))

    def to_device(self, buffer: Buffer, array: np.ndarray[Any, Any]) -> None:
        """Write bytes."""
        at = buffer.address - self.first
        self.memory[at : at + buffer.size] = array

    def from_device(self, buffer: Buffer, dtype: Any, shape: tuple[int, ...]) -> Any:
        """Return bytes."""
        at = buffer.address - self.first
        return self.memory[at : at + buffer.size].copy()

    def tell(self, **values: int) -> None:
        """Set registers by their names."""
        self.registers |= {self.offsets[name]: value for name, value in values.items()}
