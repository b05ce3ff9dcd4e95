"""Play a run of a top on a board: words and commands in memory, one ring, results in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from merp.cosim.board.bus import Bus, Moves
from merp.cosim.board.lists import Bytes, Formula, PlacedRun, placed_run
from merp.cosim.board.simulated import Buffer, SimulatedBoard
from merp.cosim.board.system import System
from merp.models.base.bits import Bits
from merp.models.base.errors import CheckFailed
from merp.models.memory.params.commands import Failure
from merp.testbenches.top.run import Run

INTERRUPT_CYCLES = 1
"""From the end of an engine to its interrupt."""

SPARE_CYCLES = 100_000
"""Cycles of a list in addition to the limit of its pass."""


@dataclass(frozen=True)
class Played:
    """The results of a run on a board.

    Attributes:
        words: words of each output stream.
        status: flags and counters of the engine, by name.
        cycles: cycles of the list, from its start to its end.
        engine_cycles: cycles of the engine, from its start to its end.
        moves: elements of each input and output stream on the pins of the engine, with their
            first and last cycle.
        bus: traffic on the memory's port, which is equal to ``formula``.
        formula: the same traffic by formula.
    """

    words: Mapping[str, Bits]
    status: Mapping[str, int]
    cycles: int
    engine_cycles: int
    moves: Mapping[str, Moves]
    bus: Bus
    formula: Formula


def play(
    board: SimulatedBoard, system: System, run: Run, outputs: Mapping[str, int], limit: int
) -> Played:
    """Play a run by one list of commands.

    Args:
        board: a board with the accelerator ``system``.
        system: the accelerator.
        run: settings and input words.
        outputs: number of words of each output stream.
        limit: cycles that the pass may take.

    Raises:
        BadInput: the memory of the board is too small.
        CheckFailed: the list failed; the message gives the reason and the streams that it was
            waiting for. Or the traffic on the bus is not that of the formula.
        TimeoutError: the accelerator does not interrupt.
    """
    placed = placed_run(system, run, outputs, lambda size: board.alloc(size).address, limit)
    for address, data in placed.content.items():
        board.to_device(Buffer(address, data.size), data)
    board.clear_bus()
    _ring(board, placed)
    board.wait(limit + SPARE_CYCLES)
    bus = board.bus
    _check(board, system)
    check_bus(bus, placed.formula)

    def load(address: int, size: int) -> Bytes:
        return np.asarray(board.from_device(Buffer(address, size), np.uint8, (size,)))

    pins = [*system.inputs.values(), *system.outputs.values()]
    return Played(
        words=placed.words(load),
        status=placed.status(load),
        cycles=board.read32(system.host["status_cycles"].offset),
        engine_cycles=board.ended - INTERRUPT_CYCLES,
        moves={pin.name: each for pin, each in zip(pins, board.moves, strict=False)},
        bus=bus,
        formula=placed.formula,
    )


def check_bus(bus: Bus, wanted: Formula) -> None:
    """Check the counters of the bus against the formula.

    Raises:
        CheckFailed: beats, bytes or bursts differ.
    """
    counted = {
        "read beats": (bus.read.beats, wanted.read.beats),
        "read bursts": (dict(bus.read.bursts), dict(wanted.read.bursts)),
        "written beats": (bus.write.beats, wanted.write.beats),
        "written bytes": (bus.write.bytes, wanted.write.useful),
        "write bursts": (dict(bus.write.bursts), dict(wanted.write.bursts)),
        "bursts outside memory": (bus.outside, 0),
    }
    for what, (found, formula) in counted.items():
        if found != formula:
            raise CheckFailed(f"bus: {what}: {found} counted, {formula} by the formula")


def _ring(board: SimulatedBoard, placed: PlacedRun) -> None:
    for offset, value in placed.ring:
        board.write32(offset, value)


def _check(board: SimulatedBoard, system: System) -> None:
    """Check that the list came to its end."""
    host = system.host

    def value(name: str) -> int:
        return board.read32(host[f"status_{name}"].offset)

    failure = Failure(value("failure"))
    if failure:
        waiting = value("waiting")
        streams = [name for name, number in system.design.numbers.items() if waiting >> number & 1]
        said = f", waiting for {', '.join(streams)}" if streams else ""
        raise CheckFailed(f"list: {failure.name.lower()} at command {value('commands')}{said}")
