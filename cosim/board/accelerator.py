"""Engines on a board with arrays in its memory, for steps of many passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from merp.cosim.board.arrays import BoardArrays
from merp.cosim.board.buffers import Buffer
from merp.cosim.board.dram import Dram
from merp.cosim.board.driver import Board
from merp.cosim.board.play import Played, PlayedPass, play_list
from merp.cosim.board.simulated_device import simulated
from merp.cosim.board.step_lists import cycle_limit, step_list, step_system
from merp.cosim.board.step_plan import PlannedPass, StepPlan
from merp.cosim.board.system import BoardEngine, System
from merp.cosim.board.system_engine import MOST_CYCLES, outcome_of
from merp.cosim.engines.record import RunRecord
from merp.models.base.bits import Bits

BoardOf = Callable[[System], Board]


class Accelerator:
    """The engines of a step on a board, with the arrays of the step in its memory.

    Attributes:
        engines: the engines by name.
        arrays: the arrays.
    """

    def __init__(
        self, plan: StepPlan, board_of: BoardOf | None = None, dram: Dram | None = None
    ) -> None:
        """Build a board.

        Args:
            plan: engines and arrays.
            board_of: makes the board of an accelerator; None: LiteDRAM's memory in Verilator.
            dram: the memory; None: the narrowest whose beats hold a word of each stream.

        Raises:
            BadInput: a package is missing, a stream is wider than every memory, or the memory is
                too small.
        """
        self._system, dram = step_system(plan, dram)
        self._board: Board = (
            simulated(self._system, dram) if board_of is None else board_of(self._system)
        )
        self._buffers: dict[str, list[Buffer]] = {}
        self._words: dict[str, NDArray[np.uint32]] = {}  # of the lists in memory
        self.engines: Mapping[str, BoardEngine] = {
            engine.name: engine for engine in self._system.engines
        }
        self.arrays = BoardArrays(self._board, plan.arrays.values())

    def play(self, name: str, passes: Sequence[PlannedPass]) -> Played:
        """Play a list of passes with one ring.

        A list keeps its place in memory under its name, so a later list of this name needs as many
        commands and records. It is written only if its words have changed.

        Raises:
            BadInput: as in ``step_list``.
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

        placed = step_list(self._system, self.arrays.layout, passes, alloc)
        words = placed.words
        if not np.array_equal(self._words.get(name, words[:0]), words):
            self._board.to_device(Buffer(placed.address, words.nbytes), words)
            self._words[name] = words
        limit = len(passes) * cycle_limit(passes)
        return play_list(self._board, placed, min(MOST_CYCLES, limit))

    def record(self, each: PlannedPass, played: PlayedPass) -> RunRecord:
        """Return the record of a pass, with the words of its outputs in memory."""
        ports = self.engines[each.engine].ports
        words: dict[str, Bits] = {pin.name: np.zeros(0, np.uint32) for pin in ports.outputs}
        for stream in words.keys() & each.parts.keys():
            words[stream] = self.arrays.part(*each.parts[stream])
        outcome = outcome_of(played, words)
        return RunRecord.of(outcome, ports, engine="system", elaboration_sha="", build_seconds=0.0)
