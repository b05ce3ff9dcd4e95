"""The interface of a driver to a board, for every kind of board."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Protocol, runtime_checkable

import numpy as np

from merp.cosim.board.buffers import Buffer
from merp.cosim.board.bus import Bus, Pass
from merp.cosim.board.system import System
from merp.models.memory.bus_record import MemoryFacts


class Monitor(Protocol):
    """Counters of a simulation, which see the pins of engines and the bus to memory."""

    @property
    def memories(self) -> tuple[MemoryFacts, ...]:
        """The simulated memory, if it is one of a real kind."""

    @property
    def bus(self) -> Bus:
        """Traffic between accelerator and memory."""

    def clear_bus(self) -> None:
        """Set the counters of the bus to zero, and forget all passes."""

    @property
    def passes(self) -> Sequence[Pass]:
        """The passes of engines since ``clear_bus``."""


class Board(Protocol):
    """A board with an accelerator and memory."""

    @property
    def monitor(self) -> Monitor | None:
        """Its counters; None for a real board."""

    @property
    def end(self) -> int:
        """Address behind the memory."""

    def read32(self, offset: int) -> int:
        """Return a register."""

    def write32(self, offset: int, value: int) -> None:
        """Write a register."""

    def alloc(self, size: int, align: int = 64) -> Buffer:
        """Return a new buffer."""

    def free_all(self) -> None:
        """Free all buffers."""

    def to_device(self, buffer: Buffer, array: np.ndarray[Any, Any]) -> None:
        """Copy an array to the start of a buffer, in C order."""

    def from_device(
        self, buffer: Buffer, dtype: np.typing.DTypeLike, shape: int | tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        """Return the start of a buffer as a new array."""

    def wait(self, timeout_cycles: int) -> None:
        """Run until the interrupt."""

    def reset(self) -> None:
        """End a list. The next list can start."""


class Device(Protocol):
    """A board that a program has found or can build, before the program names an accelerator."""

    def open(self, system: System) -> Board:
        """Return the board, after a check that it has this accelerator.

        Raises:
            BadInput: there is no such board, or it cannot be used.
            CheckFailed: it has another accelerator, or does not answer.
        """


@runtime_checkable
class PortedDevice(Device, Protocol):
    """A device that states the port of its accelerator."""

    @property
    def port_bits(self) -> int | None:
        """Bits of a beat of the port to memory; None: as few as the streams need of DDR memory."""


@runtime_checkable
class LoadingDevice(Device, Protocol):
    """A device that can load another bitstream while a program trains."""

    @property
    def step(self) -> str | PathLike[str] | None:
        """``step.json`` of a package with several bitstreams; None for one bitstream."""

    def reopen(self, board: Board, name: str, system: System) -> Board:
        """Load a bitstream, and return the board with it. Memory and buffers keep their contents.

        Args:
            board: the board with the bitstream before.
            name: name of the bitstream, such as ``bitstream1``.
            system: its accelerator.

        Raises:
            BadInput: the device cannot load it.
            CheckFailed: the board then has another accelerator, or does not answer.
        """
