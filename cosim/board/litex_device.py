"""A board with a LiteX system: a bridge of LiteX reads and writes registers and memory."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from merp.cosim.board.driver import Board
from merp.cosim.board.hardware import opened
from merp.cosim.board.lists import WORD_BYTES, Bytes
from merp.cosim.board.system import System
from merp.models.base.errors import BadInput
from merp.models.memory.params.memory_port import DATA_BITS

POLL_SECONDS = 0.001
MOST_WORDS = 255
"""Words of a record of Etherbone."""


@dataclass(frozen=True, eq=False)
class LiteXDevice:
    """A LiteX system behind a bridge. The driver polls.

    Attributes:
        client: an open ``litex.tools.litex_client.RemoteClient``.
        registers: address of the accelerator's registers on the bus of the system.
        memory: address of the arena on the bus of the system.
        address: address of the arena on the bus of the accelerator.
        size: bytes of the arena.
        l2_bytes: bytes of the L2 cache between the bus of the system and memory; 0: there is none.
            The memory must have as many bytes behind the arena.
        port_bits: bits of the accelerator's port to memory: ``port.data_bits`` of
            ``manifest.json``. It is necessary for a board with SDRAM, whose port is narrower.

    Raises:
        BadInput: ``port_bits`` is no width of a port.
    """

    client: Any
    registers: int
    memory: int
    size: int
    address: int = 0
    l2_bytes: int = 0
    port_bits: int | None = None

    def __post_init__(self) -> None:
        """Check the width of the port."""
        if self.port_bits not in (None, *DATA_BITS):
            allowed = ", ".join(map(str, DATA_BITS))
            raise BadInput(f"port_bits = {self.port_bits!r}: allowed are {allowed}")

    def open(self, system: System) -> Board:
        """Return the board, after its self-test.

        Raises:
            BadInput: the accelerator cannot address the arena.
            CheckFailed: the board has another accelerator, or does not answer.
        """
        return opened(LiteXAccess(self), system)


class LiteXAccess:
    """Registers and memory through a bridge.

    The accelerator does not see the L2 cache of the system. A read of as many bytes behind the
    arena replaces all contents of this cache, and writes the changed ones to memory.

    Attributes:
        name: name for messages.
        address: address of the arena on the bus of the accelerator.
        size: its bytes.
    """

    name = "memory of the LiteX system"

    def __init__(self, device: LiteXDevice) -> None:
        self._device = device
        self.address, self.size = device.address, device.size

    def read32(self, offset: int) -> int:
        """Return a register."""
        return int(self._device.client.read(self._device.registers + offset))

    def write32(self, offset: int, value: int) -> None:
        """Write a register."""
        self._device.client.write(self._device.registers + offset, value)

    def load(self, offset: int, size: int) -> Bytes:
        """Return bytes of the arena from memory."""
        self._sweep()
        first, skipped = divmod(offset, WORD_BYTES)
        return self._words(first, -(-(skipped + size) // WORD_BYTES))[skipped : skipped + size]

    def store(self, offset: int, data: Bytes) -> None:
        """Write bytes of the arena to memory."""
        first, skipped = divmod(offset, WORD_BYTES)
        count = -(-(skipped + data.size) // WORD_BYTES)
        whole = np.zeros(count * WORD_BYTES, np.uint8)
        if whole.size != data.size:  # keep the other bytes of the first and of the last word
            whole[:WORD_BYTES] = self._words(first, 1)
            whole[-WORD_BYTES:] = self._words(first + count - 1, 1)
        whole[skipped : skipped + data.size] = data
        words = whole.view("<u4").tolist()
        for at in range(0, count, MOST_WORDS):
            place = self._device.memory + (first + at) * WORD_BYTES
            self._device.client.write(place, words[at : at + MOST_WORDS])
        self._sweep()

    def interrupted(self, seconds: float) -> bool:
        """Sleep for a moment."""
        time.sleep(POLL_SECONDS)
        return True

    def _words(self, first: int, count: int) -> Bytes:
        words: list[int] = []
        for at in range(0, count, MOST_WORDS):
            place = self._device.memory + (first + at) * WORD_BYTES
            words += self._device.client.read(place, min(MOST_WORDS, count - at))
        return np.array(words, "<u4").view(np.uint8)

    def _sweep(self) -> None:
        """Replace the contents of the cache, which has one place for each byte, by other bytes."""
        behind = -(-self.size // WORD_BYTES)
        self._words(behind, self._device.l2_bytes // WORD_BYTES)
