"""A simulated board as a device for training."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

from merp.cosim.board.bitstreams import FIRST
from merp.cosim.board.build import Built, built
from merp.cosim.board.dram import Dram
from merp.cosim.board.driver import Board
from merp.cosim.board.simulated import SimulatedBoard
from merp.cosim.board.system import System


@dataclass(frozen=True)
class SimulatedDevice:
    """A board with LiteDRAM's memory, in Verilator.

    Attributes:
        step: ``step.json`` of a package with several bitstreams. A board is built for each of them.
    """

    step: str | PathLike[str] | None = None

    def open(self, system: System) -> Board:
        """Return a new board. It is built, if the cache does not have it.

        Raises:
            BadInput: a package or a tool is missing.
        """
        library = _built(system)
        board = SimulatedBoard(library)
        board.builds[FIRST] = library
        return board

    def reopen(self, board: Board, name: str, system: System) -> Board:
        """Return a new board of an accelerator, with the memory and the buffers of ``board``.

        Raises:
            BadInput: as in ``open``.
        """
        assert isinstance(board, SimulatedBoard)
        if name not in board.builds:  # an accelerator can be converted once
            board.builds[name] = _built(system)
        found = SimulatedBoard(board.builds[name])
        found.take_over(board)
        return found


def _built(system: System) -> Built:
    return built(system.function, system.args, Dram.with_port(system.design.port.data_bits))


def simulated(system: System, dram: Dram) -> SimulatedBoard:
    """Return a new board of an accelerator with a memory.

    Raises:
        BadInput: a package or a tool is missing, or the memory has other beats.
    """
    return SimulatedBoard(built(system.function, system.args, dram))
