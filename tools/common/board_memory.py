"""The memory of a board for engine ``system``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from merp.cosim.engines.names import FREE_RUNNING
from merp.models.base.errors import BadInput
from merp.models.base.given import mention
from merp.models.fpga.board import DDR3, Board
from merp.models.memory.bus_record import MemoryFacts
from merp.testbenches.top.top import Top
from merp.tools.common.boards import shipped_boards


def memory_on(board: Board, engine: str) -> MemoryFacts | None:
    """Return the memory of a board; None for engines without a memory.

    It has the width of the board's memory. Accelerator and controller share one clock, that of the
    board's engine.

    Raises:
        BadInput: the board has no such memory, or its clock is out of range.
    """
    if engine not in FREE_RUNNING:
        return None
    from merp.cosim.board.dram import Dram  # imports hardware only if needed

    bits = _ddr3_bits(board)
    if bits is None:
        planned = [each for each in shipped_boards() if each.part.planned]
        names = [each.name for each in planned if _ddr3_bits(each) is not None]
        raise BadInput(
            f"{mention('engine', engine)}: board {board.name} has no DDR3 memory with one "
            f"controller: allowed are {', '.join(names)}, or a .toml file with memory.data_bits"
        )
    clock: Any = board.clock_mhz
    try:
        return Dram(data_bits=bits, clock_mhz=int(clock) if clock == int(clock) else clock).facts
    except ValueError as error:
        raise BadInput(f"{mention('engine', engine)}: board {board.name}: {error}") from error


def _ddr3_bits(board: Board) -> int | None:
    """Return the width of the memory that the simulated board can have."""
    return board.memory_bits if board.memory_kind == DDR3 else None


def check_tops(memory: MemoryFacts | None, tops: Iterable[Top]) -> None:
    """Check that the beats of a memory hold a word of each stream of each top.

    Raises:
        BadInput: a stream is wider.
    """
    if memory is not None:
        from merp.cosim.board.dram import Dram
        from merp.cosim.board.system_engine import memory_for  # builds boards

        for top in tops:
            memory_for(top.ports.streams, Dram.of(memory))
