"""A simulated board behind the files and objects of real boards."""

import contextlib
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from device_files import device_files

from merp.cosim.board.buffers import Buffer
from merp.cosim.board.driver import Board
from merp.cosim.board.hardware import HardwareBoard, opened
from merp.cosim.board.litex_device import LiteXDevice
from merp.cosim.board.simulated_device import SimulatedDevice
from merp.cosim.board.system import System
from merp.cosim.board.uio import UioAccess, UioDevice

ADDRESS, SIZE = 1 << 20, 1 << 22
"""The arena in the memory of the simulated board."""

REGISTERS, RAM = 0x8200_0000, 0x4000_0000
"""Registers and memory on the bus of a LiteX system."""

AT_ONCE = 10_000
"""Cycles that pass while a driver looks away."""


def simulated(system: System) -> Any:
    """Return a simulated board."""
    return SimulatedDevice().open(system)


def pass_time(board: Any) -> None:
    """Let cycles pass, or none if the interrupt is high."""
    with contextlib.suppress(TimeoutError):
        board.wait(AT_ONCE)


class UioOnSimulation(UioAccess):
    """UIO and u-dma-buf by regular files; a sync moves bytes between cache and memory."""

    def __init__(self, device: UioDevice, board: Any) -> None:
        super().__init__(device)
        self.connect(board)

    def connect(self, board: Any) -> None:
        """Put a simulated board behind the files."""
        self._board = board
        self.read32, self.write32 = board.read32, board.write32  # type: ignore[method-assign]

    def load_bitstream(self, name: str, system: System) -> None:
        """Put the board of another bitstream behind the files, with the same memory."""
        self.connect(SimulatedDevice().reopen(self._board, name, system))

    def _sync(self, direction: str, offset: int, size: int) -> None:
        super()._sync(direction, offset, size)
        place, part = Buffer(ADDRESS + offset, size), slice(offset, offset + size)
        if direction == "for_device":
            self._board.to_device(place, self._arena[part])
        else:
            self._arena[part] = self._board.from_device(place, np.uint8, (size,))

    def interrupted(self, seconds: float) -> bool:
        """Let time pass."""
        pass_time(self._board)
        return True


class SimulatedUio(UioDevice):
    """A UIO device whose accelerator is a simulation."""

    def open(self, system: System) -> Board:
        """Return the board, after its self-test."""
        return opened(UioOnSimulation(self, simulated(system)), system)


class LoadingUio(UioDevice):
    """A UIO device whose accelerator is a simulation that loads bitstreams."""

    def open(self, system: System) -> Board:
        """Return the board, after its self-test."""
        board = simulated(system)
        board.alloc(ADDRESS + SIZE)  # the arena is in the memory that the next board takes over
        return opened(UioOnSimulation(self, board), system)

    def reopen(self, board: Board, name: str, system: System) -> Board:
        """Load a bitstream, and go on as a real device."""
        assert isinstance(board, HardwareBoard)
        assert isinstance(board.access, UioOnSimulation)
        board.access.load_bitstream(name, system)
        return super().reopen(board, name, system)


def loading_uio(folder: Path, step: Path, load: Callable[[str], object]) -> LoadingUio:
    """Write the device files into a folder, and return the device."""
    return LoadingUio(**asdict(device_files(folder, ADDRESS, SIZE)) | {"step": step, "load": load})


def uio(folder: Path) -> SimulatedUio:
    """Write the device files into a folder, and return the device."""
    return SimulatedUio(**asdict(device_files(folder, ADDRESS, SIZE)))


class BusOfSystem:
    """The bus of a LiteX system, as ``litex.tools.litex_server`` reaches it by a cable."""

    def __init__(self) -> None:
        self.board: Any = None

    def open(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def read(self, addr: int, length: int | None = None, burst: str = "incr") -> list[int]:
        """Return words."""
        if addr >= REGISTERS:
            pass_time(self.board)
            return [self.board.read32(addr - REGISTERS)]
        words = self.board.from_device(Buffer(addr - RAM, 4 * (length or 1)), "<u4", (length or 1,))
        return [int(word) for word in words]

    def write(self, addr: int, data: list[int]) -> None:
        """Write words."""
        if addr >= REGISTERS:
            self.board.write32(addr - REGISTERS, data[0])
        else:
            self.board.to_device(Buffer(addr - RAM, 4 * len(data)), np.array(data, "<u4"))


class SimulatedLiteX(LiteXDevice):
    """A LiteX system whose accelerator is a simulation."""

    def open(self, system: System) -> Board:
        """Return the board, after its self-test."""
        bus.board = simulated(system)
        return super().open(system)


bus = BusOfSystem()


def litex(port: int) -> SimulatedLiteX:
    """Start LiteX's server on a port, connect LiteX's client, and return the device."""
    from litex.tools.litex_client import RemoteClient
    from litex.tools.litex_server import RemoteServer

    server = RemoteServer(bus, "localhost", port)
    with contextlib.redirect_stdout(sys.stderr):
        server.open()
        server.start(1)
    client = RemoteClient("localhost", port)
    client.open()
    return SimulatedLiteX(client, REGISTERS, RAM + ADDRESS, SIZE, ADDRESS)
