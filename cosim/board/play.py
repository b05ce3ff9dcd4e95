"""Play a run of a top on a board: words and commands in memory, one ring, results in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.cosim.board.bus import Bus, Moves
from merp.cosim.board.simulated import Buffer, SimulatedBoard
from merp.cosim.board.system import System
from merp.cosim.board.words import beats_for, from_memory, to_memory
from merp.models.base.bits import Bits
from merp.models.base.errors import CheckFailed
from merp.models.base.register_map import FLAGS
from merp.models.memory import commands as make
from merp.models.memory.bus_traffic import BusTraffic, bus_traffic
from merp.models.memory.commands import Command, encoded
from merp.models.memory.params.commands import Failure
from merp.models.memory.params.memory_port import BYTE
from merp.models.memory.params.mover import Mover
from merp.models.memory.params.subsystem import LIST, RECORDS
from merp.models.memory.walk import Walk
from merp.testbenches.top.run import Run

WORD_BYTES = 4
INTERRUPT_CYCLES = 1
"""From the end of an engine to its interrupt."""


class Formula(NamedTuple):
    """Traffic on the bus by formula."""

    read: BusTraffic
    write: BusTraffic


@dataclass(frozen=True)
class Played:
    """The results of a run on a board.

    Attributes:
        words: words of each output stream.
        status: counters of the engine, by name.
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
    design, engine = system.design, system.engine
    numbers, interface = design.numbers, design.interface
    movers = dict((*interface.readers, *interface.writers))
    walks: dict[str, Walk] = {}
    tails: dict[str, int] = {}
    for name, pin in system.inputs.items():
        words = run.words[pin.name]
        data = to_memory(words, pin, movers[name].word_bytes)
        if data.size:
            walks[name] = _stored(board, data, movers[name])
            tails[name] = words.size % pin.lanes * pin.element // BYTE
    places: dict[str, Buffer] = {}
    for name, pin in system.outputs.items():
        beats = beats_for(outputs[pin.name], pin)
        if beats:
            places[name] = board.alloc(beats * movers[name].word_bytes)
            walks[name] = Walk(places[name].address // movers[name].word_bytes, beats)
    counted = len(engine.registers) - engine.first_counter
    records = board.alloc((1 + counted) * WORD_BYTES)
    walks[RECORDS] = Walk(records.address // WORD_BYTES, 1 + counted)

    def place(name: str) -> int:
        return engine.index(name)

    settings = [run.config[each.name] for each in engine.registers if each.name in run.config]
    moving = [numbers[name] for name in walks if name != RECORDS]
    commands: list[Command] = [
        *make.write(engine.first_setting, settings),
        make.expect(place("error"), 0),
        *make.write(place("interrupt"), [1, 1]),
        *(make.walk(numbers[name], each, tails.get(name, 0)) for name, each in walks.items()),
        make.start(numbers[name] for name in walks),
        *make.write(place("control"), [1]),
        make.wait(moving, [0], limit),
        *make.record(place("status"), 1),
        *make.record(engine.first_counter, counted),
        make.wait([numbers[RECORDS]], [], limit),
        make.END,
    ]
    played = np.array(encoded(commands), np.uint32)
    list_ = board.alloc(played.nbytes)
    board.to_device(list_, played)
    board.clear_bus()
    _ring(board, system, list_, played.size)
    board.wait(limit + 100_000)
    bus = board.bus
    _check(board, system)
    moved = {name: bus_traffic(each, movers[name]) for name, each in walks.items()}
    listed = Walk(list_.address // WORD_BYTES, played.size)
    moved[LIST] = bus_traffic(listed, movers[LIST])
    inputs = {*system.inputs, LIST}
    wanted = Formula(
        read=sum((each for name, each in moved.items() if name in inputs), BusTraffic()),
        write=sum((each for name, each in moved.items() if name not in inputs), BusTraffic()),
    )
    check_bus(bus, wanted)
    host = system.host
    recorded = np.asarray(board.from_device(records, np.uint32, (1 + counted,)))
    flags, counters = int(recorded[0]), recorded[1:]
    names = [each.name for each in engine.registers[engine.first_counter :: 2]]
    status = {f"status_{name}": flags >> bit & 1 for bit, name in enumerate(FLAGS)}
    status |= {
        name: int(low) | int(high) << 32
        for name, low, high in zip(names, counters[::2], counters[1::2], strict=True)
    }
    pins = [*system.inputs.values(), *system.outputs.values()]
    moves = {pin.name: each for pin, each in zip(pins, board.moves, strict=False)}
    found = {
        pin.name: from_memory(
            np.asarray(board.from_device(places[name], np.uint8, (places[name].size,))),
            pin,
            outputs[pin.name],
        )
        if name in places
        else np.zeros(0, np.uint32)
        for name, pin in system.outputs.items()
    }
    cycles = board.read32(host["status_cycles"].offset)
    return Played(found, status, cycles, board.ended - INTERRUPT_CYCLES, moves, bus, wanted)


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


def _stored(board: SimulatedBoard, data: NDArray[np.uint8], mover: Mover) -> Walk:
    buffer = board.alloc(data.size)
    board.to_device(buffer, data)
    return Walk(buffer.address // mover.word_bytes, data.size // mover.word_bytes)


def _ring(board: SimulatedBoard, system: System, list_: Buffer, words: int) -> None:
    host = system.host
    board.write32(host["interrupt"].offset, 1)
    board.write32(host["interrupt_enable"].offset, 1)
    board.write32(host["list_low"].offset, list_.address)
    board.write32(host["list_words"].offset, words)
    board.write32(host["control"].offset, 1)


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
