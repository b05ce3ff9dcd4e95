"""A run of a top as a list of commands: places in memory, commands, traffic, and results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.cosim.board.system import System
from merp.cosim.board.words import beats_for, from_memory, to_memory
from merp.models.base.bits import Bits
from merp.models.base.register_map import FLAGS
from merp.models.memory import commands as make
from merp.models.memory.bus_traffic import BusTraffic, bus_traffic
from merp.models.memory.commands import Command, encoded
from merp.models.memory.params.memory_port import BYTE
from merp.models.memory.params.subsystem import LIST, RECORDS
from merp.models.memory.walk import Walk
from merp.testbenches.top.run import Run

WORD_BYTES = 4
Bytes = NDArray[np.uint8]


class Formula(NamedTuple):
    """Traffic on the bus by formula."""

    read: BusTraffic
    write: BusTraffic


@dataclass(frozen=True)
class PlacedRun:
    """A run with a place in memory for each of its streams, its list and its records.

    Attributes:
        system: the accelerator.
        outputs: number of words of each output stream.
        walks: walk of each stream, in words of the stream.
        content: address and bytes of the inputs and of the list.
        list_address: byte address of the list.
        list_words: its words.
    """

    system: System
    outputs: Mapping[str, int]
    walks: Mapping[str, Walk]
    content: Mapping[int, Bytes]
    list_address: int
    list_words: int

    @property
    def ring(self) -> list[tuple[int, int]]:
        """The writes of the host that start the list: offset and word of each."""
        values = {
            "interrupt": 1,
            "interrupt_enable": 1,
            "list_low": self.list_address,
            "list_words": self.list_words,
            "control": 1,
        }
        return [(self.system.host[name].offset, value) for name, value in values.items()]

    @property
    def formula(self) -> Formula:
        """Traffic on the bus, of the list as well."""
        interface = self.system.design.interface
        movers = dict((*interface.readers, *interface.writers))
        walks = {**self.walks, LIST: Walk(self.list_address // WORD_BYTES, self.list_words)}
        traffic = {name: bus_traffic(each, movers[name]) for name, each in walks.items()}
        inputs = {name for name, _ in interface.readers}
        return Formula(
            read=sum((each for name, each in traffic.items() if name in inputs), BusTraffic()),
            write=sum((each for name, each in traffic.items() if name not in inputs), BusTraffic()),
        )

    def words(self, load: Callable[[int, int], Bytes]) -> dict[str, Bits]:
        """Return the words of each output stream; ``load`` reads bytes at an address."""
        movers = dict(self.system.design.writers)
        found: dict[str, Bits] = {}
        for name, pin in self.system.outputs.items():
            elements = self.outputs[pin.name]
            data = np.zeros(0, np.uint8)
            if elements:
                walk, size = self.walks[name], movers[name].word_bytes
                data = load(walk.base * size, walk.words * size)
            found[pin.name] = from_memory(data, pin, elements)
        return found

    def status(self, load: Callable[[int, int], Bytes]) -> dict[str, int]:
        """Return the recorded status of the engine: its flags, then its counters."""
        walk, engine = self.walks[RECORDS], self.system.engine
        data = load(walk.base * WORD_BYTES, walk.words * WORD_BYTES)
        flags, *halves = (int(word) for word in data.view(np.uint32))
        status = {f"status_{name}": flags >> bit & 1 for bit, name in enumerate(FLAGS)}
        names = [each.name for each in engine.registers[engine.first_counter :: 2]]
        for name, low, high in zip(names, halves[::2], halves[1::2], strict=True):
            status[name] = low | high << 32
        return status


def placed_run(
    system: System,
    run: Run,
    outputs: Mapping[str, int],
    alloc: Callable[[int], int],
    limit: int,
) -> PlacedRun:
    """Place a run in memory, and write its list.

    Args:
        system: the accelerator.
        run: settings and input words.
        outputs: number of words of each output stream.
        alloc: reserves a number of bytes, and returns their address.
        limit: cycles that the pass may take.
    """
    movers = dict((*system.design.readers, *system.design.writers))
    walks: dict[str, Walk] = {}
    tails: dict[str, int] = {}
    content: dict[int, Bytes] = {}

    def reserve(name: str, beats: int, word_bytes: int) -> int:
        address = alloc(beats * word_bytes)
        walks[name] = Walk(address // word_bytes, beats)
        return address

    for name, pin in system.inputs.items():
        words, size = run.words[pin.name], movers[name].word_bytes
        if words.size:
            content[reserve(name, beats_for(words.size, pin), size)] = to_memory(words, pin, size)
            tails[name] = words.size % pin.lanes * pin.element // BYTE
    for name, pin in system.outputs.items():
        if outputs[pin.name]:
            reserve(name, beats_for(outputs[pin.name], pin), movers[name].word_bytes)
    counters = len(system.engine.registers) - system.engine.first_counter
    reserve(RECORDS, 1 + counters, WORD_BYTES)
    words = np.array(encoded(_commands(system, run, walks, tails, limit)), np.uint32)
    list_address = alloc(words.nbytes)
    content[list_address] = words.view(np.uint8)
    return PlacedRun(system, outputs, walks, content, list_address, words.size)


def _commands(
    system: System, run: Run, walks: Mapping[str, Walk], tails: Mapping[str, int], limit: int
) -> list[Command]:
    """Return the commands of a run: settings, walks, start, wait, record."""
    engine, numbers = system.engine, system.design.numbers
    settings = [run.config[each.name] for each in engine.registers if each.name in run.config]
    moving = [numbers[name] for name in walks if name != RECORDS]
    counters = len(engine.registers) - engine.first_counter
    return [
        *make.write(engine.first_setting, settings),
        make.expect(engine.index("error"), 0),
        *make.write(engine.index("interrupt"), [1, 1]),  # and its enable
        *(make.walk(numbers[name], each, tails.get(name, 0)) for name, each in walks.items()),
        make.start(numbers[name] for name in walks),
        *make.write(engine.index("control"), [1]),
        make.wait(moving, [0], limit),
        *make.record(engine.index("status"), 1),
        *make.record(engine.first_counter, counters),
        make.wait([numbers[RECORDS]], [], limit),
        make.END,
    ]
