"""A simulated board as a device for training."""

from __future__ import annotations

from dataclasses import dataclass

from merp.cosim.board.build import built
from merp.cosim.board.dram import PHASES, Dram
from merp.cosim.board.driver import Board
from merp.cosim.board.simulated import SimulatedBoard
from merp.cosim.board.system import System


@dataclass(frozen=True)
class SimulatedDevice:
    """A board with LiteDRAM's memory, in Verilator."""

    def open(self, system: System) -> Board:
        """Return a new board. It is built, if the cache does not have it.

        Raises:
            BadInput: a package or a tool is missing.
        """
        return simulated(system, Dram(data_bits=system.design.port.data_bits // (2 * PHASES)))


def simulated(system: System, dram: Dram) -> SimulatedBoard:
    """Return a new board of an accelerator with a memory.

    Raises:
        BadInput: a package or a tool is missing, or the memory has other beats.
    """
    return SimulatedBoard(built(system.function, system.args, dram))
