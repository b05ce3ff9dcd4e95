"""Engines on a board with arrays in its memory, for steps of many passes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from merp.cosim.board.arrays import BoardArrays
from merp.cosim.board.bitstreams import DividedStep
from merp.cosim.board.buffers import Buffer
from merp.cosim.board.dram import Dram
from merp.cosim.board.driver import Board, Device, LoadingDevice
from merp.cosim.board.play import Played, PlayedPass, play_list
from merp.cosim.board.simulated_device import simulated
from merp.cosim.board.step_lists import cycle_limit, step_list, step_systems
from merp.cosim.board.step_plan import PlannedPass
from merp.cosim.board.system import BoardEngine
from merp.cosim.board.system_engine import MOST_CYCLES, outcome_of
from merp.cosim.engines.record import RunRecord
from merp.models.base.bits import Bits
from merp.models.base.errors import CheckFailed


class Accelerator:
    """The engines of a step on a board, with the arrays of the step in its memory.

    Attributes:
        engines: the engines by name.
        arrays: the arrays.
    """

    def __init__(
        self, step: DividedStep, device: Device | None = None, dram: Dram | None = None
    ) -> None:
        """Build a board, with the first bitstream.

        Args:
            step: engines and arrays.
            device: makes the board; None: LiteDRAM's memory in Verilator. With several bitstreams,
                it must be a ``LoadingDevice``.
            dram: the memory; None: the narrowest whose beats hold a word of each stream.

        Raises:
            BadInput: a package is missing, a stream is wider than every memory, or the memory is
                too small.
        """
        self._systems, dram = step_systems(step, dram)
        self._names, self._device = list(step.parts), device
        self._loaded = self._names[0]
        system = self._systems[self._loaded]
        board = simulated(system, dram) if device is None else device.open(system)
        self._buffers: dict[str, list[Buffer]] = {}
        self._words: dict[str, NDArray[np.uint32]] = {}  # of the lists in memory
        self.engines: Mapping[str, BoardEngine] = {
            engine.name: engine for each in self._systems.values() for engine in each.engines
        }
        self.arrays = BoardArrays(board, step.whole.arrays.values())

    @property
    def _board(self) -> Board:
        return self.arrays.board

    def play(self, step: DividedStep, name: str) -> Played:
        """Play a list of a step with one ring. If it ends with a load, load that bitstream.

        A list keeps its place in memory under its name, so a later list of this name needs as many
        commands and records. It is written only if its words have changed.

        Raises:
            BadInput: as in ``step_list``, or the device cannot load the bitstream.
            CheckFailed: the list failed, or the traffic on the bus is not that of the formula. Or
                the accelerator names another bitstream than the next one.
            TimeoutError: the accelerator does not interrupt.
        """
        passes, load = step.whole.lists[name], step.loads.get(name)
        if (home := step.homes[name]) != self._loaded:
            raise CheckFailed(f"list {name}: it needs {home}, but {self._loaded} is loaded")
        system = self._systems[home]
        kept = self._buffers.setdefault(name, [])
        places = iter(list(kept))

        def alloc(size: int) -> int:
            place = next(places, None)
            if place is None:
                place = self._board.alloc(size)
                kept.append(place)
            assert size <= place.size
            return place.address

        number = None if load is None else self._names.index(load)
        placed = step_list(system, self.arrays.layout, passes, alloc, number)
        words = placed.words
        if not np.array_equal(self._words.get(name, words[:0]), words):
            self._board.to_device(Buffer(placed.address, words.nbytes), words)
            self._words[name] = words
        limit = len(passes) * cycle_limit(passes)
        played = play_list(self._board, placed, min(MOST_CYCLES, limit))
        if load is not None:
            self._load(load)
        return played

    def _load(self, wanted: str) -> None:
        """Load the bitstream that the accelerator names after its interrupt.

        Raises:
            CheckFailed: it names no bitstream, or another one.
        """
        host, device = self._systems[self._loaded].host, self._device
        asked = self._board.read32(host["status_load"].offset)
        number = self._board.read32(host["status_bitstream"].offset)
        if not asked or number != self._names.index(wanted):
            raise CheckFailed(f"status: load {asked}, bitstream {number}: not {wanted}")
        assert isinstance(device, LoadingDevice)
        self.arrays.board = device.reopen(self._board, wanted, self._systems[wanted])
        self._loaded = wanted

    def record(self, each: PlannedPass, played: PlayedPass) -> RunRecord:
        """Return the record of a pass, with the words of its outputs in memory."""
        ports = self.engines[each.engine].ports
        words: dict[str, Bits] = {pin.name: np.zeros(0, np.uint32) for pin in ports.outputs}
        for stream in words.keys() & each.parts.keys():
            words[stream] = self.arrays.part(*each.parts[stream])
        outcome = outcome_of(played, words)
        return RunRecord.of(outcome, ports, engine="system", elaboration_sha="", build_seconds=0.0)
