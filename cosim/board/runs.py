"""A run of a top in memory: a place for each of its streams, and its list of commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from merp.cosim.board.lists import BoardPass, Bytes, Load, Moved, PlacedList, placed_list
from merp.cosim.board.system import BoardEngine, System
from merp.cosim.board.words import beats_for, from_memory, to_memory
from merp.models.base.bits import Bits
from merp.models.memory.params.memory_port import BYTE
from merp.models.memory.walk import Walk
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Pin


@dataclass(frozen=True)
class PlacedRun:
    """A run whose streams are in memory, word after word.

    Attributes:
        commands: its list.
        content: address and bytes of the inputs and of the list.
        outputs: number of words of each output stream.
    """

    commands: PlacedList
    content: Mapping[int, Bytes]
    outputs: Mapping[str, int]

    def words(self, load: Load) -> dict[str, Bits]:
        """Return the words of each output stream."""
        (each,) = self.commands.passes
        found: dict[str, Bits] = {}
        for pin in each.engine.ports.outputs:
            data = np.zeros(0, np.uint8)
            if pin.name in each.moves:
                walk, (_, mover) = each.moves[pin.name].walk, each.engine.movers[pin.name]
                data = load(walk.base * mover.word_bytes, walk.words * mover.word_bytes)
            found[pin.name] = from_memory(data, pin, self.outputs[pin.name])
        return found


def placed_run(
    system: System,
    engine: BoardEngine,
    run: Run,
    outputs: Mapping[str, int],
    alloc: Callable[[int], int],
    limit: int,
) -> PlacedRun:
    """Place the streams of a run in memory, and its list.

    Args:
        system: the accelerator.
        engine: the engine that runs.
        run: settings and input words.
        outputs: number of words of each output stream.
        alloc: reserves a number of bytes, and returns their address.
        limit: cycles that the pass may take.
    """
    moves: dict[str, Moved] = {}
    content: dict[int, Bytes] = {}

    def reserve(pin: Pin, elements: int, tail: int = 0) -> tuple[int, int]:
        size, beats = engine.movers[pin.name][1].word_bytes, beats_for(elements, pin)
        address = alloc(beats * size)
        moves[pin.name] = Moved(Walk(address // size, beats), elements, tail)
        return address, size

    for pin in engine.ports.inputs:
        words = run.words[pin.name]
        if words.size:
            tail = words.size % pin.lanes * pin.element // BYTE
            address, size = reserve(pin, words.size, tail)
            content[address] = to_memory(words, pin, size)
    for pin in engine.ports.outputs:
        if outputs[pin.name]:
            reserve(pin, outputs[pin.name])
    commands = placed_list(system, [BoardPass(engine, run.config, moves)], alloc, limit)
    content[commands.address] = commands.words.view(np.uint8)
    return PlacedRun(commands, content, outputs)
