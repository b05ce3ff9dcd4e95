"""Play lists of commands on a board: one ring, then results in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from merp.cosim.board.buffers import Buffer
from merp.cosim.board.bus import Bus, Moves, Pass
from merp.cosim.board.driver import Board
from merp.cosim.board.list_record import list_record
from merp.cosim.board.lists import BoardPass, Bytes, Formula, PlacedList
from merp.cosim.board.runs import placed_run
from merp.cosim.board.system import System
from merp.models.base.bits import Bits
from merp.models.base.errors import CheckFailed
from merp.models.memory.bus_record import BusRecord
from merp.models.memory.params.commands import Failure
from merp.models.memory.params.subsystem import LIST
from merp.testbenches.top.run import Run

INTERRUPT_CYCLES = 1
"""From the end of an engine to its interrupt."""

SPARE_CYCLES = 100_000
"""Cycles of a list in addition to the limit of its passes."""


@dataclass(frozen=True)
class PlayedPass:
    """A pass in a list.

    Attributes:
        status: flags and counters of the engine, by name.
        cycles: cycles of the engine, from its start to its end; 0 without a monitor.
        moves: elements of each stream on the pins of the engine, with their first and last cycle;
            empty without a monitor.
        crossed: elements of each stream on the bus; empty without a monitor.
    """

    status: Mapping[str, int]
    cycles: int = 0
    moves: Mapping[str, Moves] = field(default_factory=dict)
    crossed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Played:
    """A list that was played.

    Attributes:
        passes: its passes.
        cycles: cycles of the list, from its start to its end.
        bus: traffic on the memory's port, which is equal to ``formula``; None without a monitor.
        formula: the same traffic by formula.
        record: the record of the bus; None without a monitor.
    """

    passes: tuple[PlayedPass, ...]
    cycles: int
    bus: Bus | None
    formula: Formula
    record: BusRecord | None


def play_list(board: Board, placed: PlacedList, limit: int) -> Played:
    """Ring a list that is in memory, and wait for its end.

    Args:
        board: a board with the accelerator of the list.
        placed: the list.
        limit: cycles that all passes together may take.

    Raises:
        CheckFailed: the list failed; the message gives the reason and the streams that it was
            waiting for. Or the traffic on the bus is not that of the formula.
        TimeoutError: the accelerator does not interrupt.
    """
    monitor = board.monitor
    if monitor is not None:
        monitor.clear_bus()
    for offset, value in placed.ring:
        board.write32(offset, value)
    board.wait(limit + SPARE_CYCLES)
    bus = None if monitor is None else monitor.bus
    _check(board, placed)
    formula = placed.formula
    status = placed.status(lambda address, size: loaded(board, address, size))
    cycles = board.read32(placed.system.host["status_cycles"].offset)
    if monitor is None or bus is None:
        return Played(tuple(map(PlayedPass, status)), cycles, None, formula, None)
    check_bus(bus, formula)
    passes = _seen(placed, status, monitor.passes)
    return Played(passes, cycles, bus, formula, list_record(bus, placed, monitor.memories))


def _seen(
    placed: PlacedList, status: Sequence[Mapping[str, int]], passes: Sequence[Pass]
) -> tuple[PlayedPass, ...]:
    """Return the passes of a list with their elements on pins and bus."""
    found = []
    for each, told, seen in zip(placed.passes, status, passes, strict=True):
        engine = each.engine
        moves = {
            pin.name: seen.streams[engine.first_pin + place]
            for place, pin in enumerate(engine.ports.streams)
        }
        on_bus = dict.fromkeys(moves, 0) | crossed(placed.system, each, seen)
        found.append(PlayedPass(told, seen.ended - INTERRUPT_CYCLES, moves, on_bus))
    return tuple(found)


def crossed(system: System, each: BoardPass, seen: Pass) -> dict[str, int]:
    """Return the elements of each stream on the bus, from the bytes of its ID.

    A read moves whole beats, so the formula's wasted bytes are taken off. A byte too many or too
    few counts as a whole element.
    """
    writers = len(system.design.readers)  # the first of them has ID 0
    found = {}
    for stream, moved in each.moves.items():
        number, mover = each.engine.movers[stream]
        pin = next(pin for pin in each.engine.ports.streams if pin.name == stream)
        wanted = each.traffic(stream)
        if number < writers:
            more = seen.read.bytes[number] - wanted.useful - wanted.wasted
        else:
            more = seen.write.bytes[number - writers] - wanted.useful
        elements = -(-abs(more) * pin.lanes // mover.word_bytes)
        found[stream] = moved.elements + (elements if more > 0 else -elements)
    return found


def loaded(board: Board, address: int, size: int) -> Bytes:
    """Return bytes of memory."""
    return np.asarray(board.from_device(Buffer(address, size), np.uint8, (size,)))


def play(
    board: Board, system: System, run: Run, outputs: Mapping[str, int], limit: int
) -> tuple[Played, dict[str, Bits]]:
    """Play a run of the first engine by one list of commands.

    Args:
        board: a board with the accelerator ``system``.
        system: the accelerator.
        run: settings and input words.
        outputs: number of words of each output stream.
        limit: cycles that the pass may take.

    Returns:
        The list that was played, and the words of each output stream.

    Raises:
        BadInput: the memory of the board is too small.
        CheckFailed, TimeoutError: as ``play_list``.
    """

    def alloc(size: int) -> int:
        return board.alloc(size).address

    placed = placed_run(system, system.engines[0], run, outputs, alloc, limit)
    for address, data in placed.content.items():
        board.to_device(Buffer(address, data.size), data)
    played = play_list(board, placed.commands, limit)
    return played, placed.words(lambda address, size: loaded(board, address, size))


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


def _check(board: Board, placed: PlacedList) -> None:
    """Check that the list came to its end."""
    host = placed.system.host

    def value(name: str) -> int:
        return board.read32(host[f"status_{name}"].offset)

    failure = Failure(value("failure"))
    if failure:
        command = value("commands")
        streams = placed.waiting(value("waiting"), command)
        waits = ", ".join(_moved(board, placed, command, stream) for stream in streams)
        if failure == Failure.TIME and not streams:
            waits = f"the interrupt of {placed.passes[placed.pass_at(command)].engine.name}"
        said = f", waiting for {waits}" if waits else ""
        if failure == Failure.MEMORY:
            number, address = value("error_stream"), value("error_address")
            stream = (*placed.streams(command), LIST)[number]
            said = f": error response to {stream} at address {address:#x}{said}"
        raise CheckFailed(f"list: {failure.name.lower()} at command {command}{said}")


def _moved(board: Board, placed: PlacedList, command: int, stream: str) -> str:
    """Return the name of a stream, and how many of its elements have moved."""
    number = placed.pass_at(command)
    each = placed.passes[number]
    if stream not in each.moves:
        return stream
    if board.monitor is None:
        return f"{each.engine.name} {stream} ({each.moves[stream].elements} elements)"
    begun = board.monitor.passes
    place = [pin.name for pin in each.engine.ports.streams].index(stream)
    streams = begun[number].streams if number < len(begun) else ()
    done = streams[each.engine.first_pin + place].words if streams else 0
    return f"{each.engine.name} {stream} ({done} of {each.moves[stream].elements} elements)"
