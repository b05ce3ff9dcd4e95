"""A board whose registers are a UIO device of Linux, and whose arena is a buffer of u-dma-buf."""

from __future__ import annotations

import fcntl
import mmap
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from merp.cosim.board.driver import Board
from merp.cosim.board.hardware import HardwareBoard, check_loads, opened
from merp.cosim.board.lists import Bytes
from merp.cosim.board.system import System
from merp.models.base.errors import BadInput
from merp.models.base.register_map import ADDRESS_WIDTH, WORD_BYTES

POLL_SECONDS = 0.0002
ENABLE = (1).to_bytes(WORD_BYTES, "little")
"""The word that a program writes to a UIO device to enable its interrupt."""


@dataclass(frozen=True)
class UioDevice:
    """A board under Linux: registers by UIO, memory by u-dma-buf. No kernel module of merp.

    Attributes:
        registers: device file of the registers, such as ``/dev/uio0``; its map 0 is ``s_axi``.
        memory: device file of the buffer, such as ``/dev/udmabuf0``.
        interrupt: whether the interrupt is connected; if not, the driver polls.
        buffers: folder in which u-dma-buf describes its buffers.
        step: ``step.json`` of a package with several bitstreams.
        load: loads a bitstream by its name, as by the FPGA manager of Linux.
    """

    registers: str = "/dev/uio0"
    memory: str = "/dev/udmabuf0"
    interrupt: bool = True
    buffers: str = "/sys/class/u-dma-buf"
    step: str | os.PathLike[str] | None = None
    load: Callable[[str], object] | None = None

    def open(self, system: System) -> Board:
        """Return the board, after its self-test.

        Raises:
            BadInput: a file cannot be opened, another process uses the board, the accelerator
                cannot address the buffer, there is no interrupt, or ``load`` is missing.
            CheckFailed: the board has another accelerator, or does not answer.
        """
        check_loads(self.step, self.load)
        return opened(UioAccess(self), system)

    def reopen(self, board: Board, name: str, system: System) -> Board:
        """Load a bitstream, and return the board with it. Registers and buffer keep their places.

        Raises:
            CheckFailed: the board has another accelerator, or does not answer.
        """
        assert isinstance(board, HardwareBoard)
        assert self.load is not None
        self.load(name)
        board.change(system)
        return board


class UioAccess:
    """Registers and buffer as memory of this process.

    The buffer is cached. u-dma-buf writes the cache back before the accelerator reads, and drops it
    before the processor reads.

    Attributes:
        name: device file of the buffer.
        address: its physical address.
        size: its bytes.
    """

    def __init__(self, device: UioDevice) -> None:
        """Open the files.

        Raises:
            BadInput: a file is missing, cannot be opened, or is too small, or another process uses
                the board.
        """
        self.name = device.memory
        self._folder = Path(device.buffers) / Path(device.memory).name
        self.address, self.size = (self._number(name) for name in ("phys_addr", "size"))
        self._file, registers = _mapped(device.registers, 1 << ADDRESS_WIDTH)
        _claim(self._file, device.registers)
        self._registers = np.frombuffer(registers, np.uint32)
        _, arena = _mapped(device.memory, self.size)
        self._arena = np.frombuffer(arena, np.uint8)
        self._interrupt = device.interrupt

    def read32(self, offset: int) -> int:
        """Return a register."""
        return int(self._registers[offset // WORD_BYTES])

    def write32(self, offset: int, value: int) -> None:
        """Write a register."""
        self._registers[offset // WORD_BYTES] = value

    def load(self, offset: int, size: int) -> Bytes:
        """Return bytes of the buffer from memory."""
        self._sync("for_cpu", offset, size)
        return self._arena[offset : offset + size].copy()

    def store(self, offset: int, data: Bytes) -> None:
        """Write bytes of the buffer to memory."""
        self._arena[offset : offset + data.size] = data
        self._sync("for_device", offset, data.size)

    def interrupted(self, seconds: float) -> bool:
        """Enable the interrupt, and wait for it."""
        if not self._interrupt:
            time.sleep(POLL_SECONDS)
            return True
        os.write(self._file.fileno(), ENABLE)
        came, _, _ = select.select([self._file], [], [], seconds)
        if came:
            os.read(self._file.fileno(), WORD_BYTES)
        return bool(came)

    def _number(self, name: str) -> int:
        path = self._folder / name
        try:
            return int(path.read_text("ascii"), 0)
        except (OSError, ValueError) as error:
            raise BadInput(
                f"{path}: {_reason(error)}: allowed is a buffer of the kernel module u-dma-buf"
            ) from error

    def _sync(self, direction: str, offset: int, size: int) -> None:
        """Bring cache and memory together in a part of the buffer."""
        for name, value in (
            ("sync_offset", offset), ("sync_size", size), (f"sync_{direction}", 1),
        ):  # fmt: skip
            (self._folder / name).write_text(f"{value}\n", "ascii")


def _mapped(path: str, size: int) -> tuple[BinaryIO, mmap.mmap]:
    """Open a device file, and map its first bytes into the memory of this process."""
    try:
        file = open(path, "r+b", buffering=0)
        return file, mmap.mmap(file.fileno(), size)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{path}: {_reason(error)}: allowed is a device file of {size} bytes"
        ) from error


def _claim(file: BinaryIO, path: str) -> None:
    """Lock a device file until it is closed, or until this process ends."""
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise BadInput(f"{path}: another process uses the board: allowed is one") from error


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
