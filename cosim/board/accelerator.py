"""Engines on a simulated board with arrays in its memory, for steps of many passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from merp.cosim.board.arrays import BoardArrays
from merp.cosim.board.buffers import Buffer
from merp.cosim.board.build import built
from merp.cosim.board.driver import Board
from merp.cosim.board.lists import BoardPass, placed_list
from merp.cosim.board.play import Played, PlayedPass, play_list
from merp.cosim.board.simulated import SimulatedBoard
from merp.cosim.board.system import BoardEngine, System, system_of
from merp.cosim.board.system_engine import MOST_CYCLES, limit_of, memory_for, outcome_of, port_for
from merp.cosim.engines.record import RunRecord
from merp.models.base.bits import Bits
from merp.models.memory.layout import Array
from merp.testbenches.top.top import Top

BoardOf = Callable[[System], Board]


class Accelerator:
    """Engines on a simulated board, with arrays in its memory.

    Attributes:
        engines: the engines by name.
        arrays: the arrays.
    """

    def __init__(
        self,
        tops: Mapping[str, Top],
        arrays: Iterable[Array],
        board_of: BoardOf | None = None,
    ) -> None:
        """Build a board for ``tops``, given by the names of their engines.

        ``board_of`` makes the board of an accelerator; None: LiteDRAM's memory in Verilator.

        Raises:
            BadInput: a package is missing, a stream is wider than every memory, or the memory is
                too small.
        """
        dram = memory_for([pin for top in tops.values() for pin in top.ports.streams])
        ports = {name: top.ports for name, top in tops.items()}
        self._system = system_of(tops, port_for(ports, dram))
        self._board: Board = (
            SimulatedBoard(built(self._system.function, self._system.args, dram))
            if board_of is None
            else board_of(self._system)
        )
        self._buffers: dict[str, list[Buffer]] = {}
        self.engines: Mapping[str, BoardEngine] = {
            engine.name: engine for engine in self._system.engines
        }
        self.arrays = BoardArrays(self._board, arrays)

    def play(self, name: str, passes: Sequence[BoardPass]) -> Played:
        """Play a list of passes with one ring.

        A list keeps its place in memory under its name, so a later list of this name needs as many
        commands and records.

        Raises:
            CheckFailed: the list failed, or the traffic on the bus is not that of the formula.
            TimeoutError: the accelerator does not interrupt.
        """
        kept = self._buffers.setdefault(name, [])
        places = iter(list(kept))

        def alloc(size: int) -> int:
            place = next(places, None)
            if place is None:
                place = self._board.alloc(size)
                kept.append(place)
            assert size <= place.size
            return place.address

        words = sum(moved.walk.total for each in passes for moved in each.moves.values())
        placed = placed_list(self._system, passes, alloc, limit_of(words))
        self._board.to_device(Buffer(placed.address, placed.words.nbytes), placed.words)
        return play_list(self._board, placed, min(MOST_CYCLES, len(passes) * limit_of(words)))


def record_of(engine: BoardEngine, played: PlayedPass, words: Mapping[str, Bits]) -> RunRecord:
    """Return the record of a pass; ``words`` are those of its output streams in memory."""
    outcome = outcome_of(played, words)
    return RunRecord.of(
        outcome, engine.ports, engine="system", elaboration_sha="", build_seconds=0.0
    )
