"""A board under PYNQ: registers by a ``DefaultIP``, the arena by ``pynq.allocate``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np

from merp.cosim.board.driver import Board
from merp.cosim.board.hardware import HardwareBoard, check_loads, opened
from merp.cosim.board.lists import Bytes
from merp.cosim.board.system import System
from merp.models.base.errors import BadInput

POLL_SECONDS = 0.0002


@dataclass(frozen=True, eq=False)
class PynqDevice:
    """A board under PYNQ. The driver polls.

    Attributes:
        ip: the accelerator in an overlay, a ``pynq.DefaultIP``.
        size: bytes of the arena; the need is ``memory.end`` minus ``memory.first`` of
            ``merp system --json``, or a few bytes more.
        step: ``step.json`` of a package with several bitstreams.
        load: loads a bitstream by its name, and returns the accelerator in it as ``ip``.
    """

    ip: Any
    size: int = 1 << 24
    step: str | PathLike[str] | None = None
    load: Callable[[str], Any] | None = None

    def open(self, system: System) -> Board:
        """Return the board, after its self-test.

        Raises:
            BadInput: PYNQ is not installed, its memory is too small, the accelerator cannot address
                it, or ``load`` is missing.
            CheckFailed: the board has another accelerator, or does not answer.
        """
        check_loads(self.step, self.load)
        return opened(PynqAccess(self), system)

    def reopen(self, board: Board, name: str, system: System) -> Board:
        """Load a bitstream, and return the board with it. The arena stays.

        Raises:
            CheckFailed: the board has another accelerator, or does not answer.
        """
        assert isinstance(board, HardwareBoard)
        assert isinstance(board.access, PynqAccess)
        assert self.load is not None
        board.access.ip = self.load(name)
        board.change(system)
        return board


class PynqAccess:
    """Registers and memory of PYNQ.

    Attributes:
        ip: as in ``PynqDevice``.
        name: name for messages.
        address: physical address of the arena.
        size: its bytes.
    """

    name = "pynq.allocate"

    def __init__(self, device: PynqDevice) -> None:
        """Reserve memory.

        Raises:
            BadInput: PYNQ is not installed, or its memory is too small.
        """
        self.ip, self.size = device.ip, device.size
        try:
            allocate: Callable[..., Any] = import_module("pynq").allocate
            self._arena = allocate((self.size,), "u1")
        except ImportError as error:
            raise BadInput("pynq is not installed: allowed is a PYNQ image") from error
        except (MemoryError, RuntimeError) as error:
            raise BadInput(f"{self.name}: size {self.size}: {error}: allowed is less") from error
        self.address = int(self._arena.device_address)

    def read32(self, offset: int) -> int:
        """Return a register."""
        return int(self.ip.read(offset))

    def write32(self, offset: int, value: int) -> None:
        """Write a register."""
        self.ip.write(offset, value)

    def load(self, offset: int, size: int) -> Bytes:
        """Return bytes of the arena from memory."""
        part = self._arena[offset : offset + size]
        part.invalidate()
        return np.array(part)

    def store(self, offset: int, data: Bytes) -> None:
        """Write bytes of the arena to memory."""
        part = self._arena[offset : offset + data.size]
        part[:] = data
        part.flush()

    def interrupted(self, seconds: float) -> bool:
        """Sleep for a moment."""
        time.sleep(POLL_SECONDS)
        return True
