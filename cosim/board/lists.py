"""Passes of engines as a list of commands: commands, their place, their traffic, their records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.cosim.board.system import BoardEngine, System
from merp.models.base.register_map import FLAGS
from merp.models.memory import commands as make
from merp.models.memory.bus_traffic import BusTraffic, bus_traffic
from merp.models.memory.commands import Command, encoded
from merp.models.memory.params.commands import MOST_WORDS
from merp.models.memory.params.subsystem import LIST, RECORDS
from merp.models.memory.walk import Walk

WORD_BYTES = 4
Bytes = NDArray[np.uint8]
Load = Callable[[int, int], Bytes]
"""Returns bytes of memory at an address; the second argument is their number."""


class Formula(NamedTuple):
    """Traffic on the bus by formula."""

    read: BusTraffic
    write: BusTraffic


class Moved(NamedTuple):
    """The words of a stream that move in a pass.

    Attributes:
        walk: their addresses, in words of the stream.
        elements: number of elements of the stream; the last word can have free places.
        tail: bytes of the last word that count; 0: all of them.
    """

    walk: Walk
    elements: int
    tail: int = 0


@dataclass(frozen=True)
class BoardPass:
    """A pass of an engine: from its start to its interrupt.

    Attributes:
        engine: the engine.
        config: value of each of its settings.
        moves: the words that move, by stream.
    """

    engine: BoardEngine
    config: Mapping[str, int]
    moves: Mapping[str, Moved]

    @property
    def settings(self) -> list[str]:
        """The names of the settings, in the order in which the list writes them."""
        names = (each.name for each in self.engine.registers.registers)
        return [name for name in names if name in self.config]

    def commands(self, limit: int) -> Iterator[Command]:
        """Yield settings, walks, start, wait and records. The wait has a limit of cycles.

        The walks start behind the engine, because a start also connects it with its streams.
        """
        engine, first = self.engine, self.engine.first_register
        registers = engine.registers
        settings = [self.config[name] for name in self.settings]
        yield from make.write(first + registers.first_setting, settings)
        yield make.expect(first + registers.index("error"), 0)
        yield from make.write(first + registers.index("interrupt"), [1, 1])  # and its enable
        streams = [engine.movers[stream][0] for stream in self.moves]
        for number, moved in zip(streams, self.moves.values(), strict=True):
            yield make.walk(number, moved.walk, moved.tail)
        yield from make.write(first + registers.index("control"), [1])
        yield make.start(streams)
        yield make.wait(streams, [engine.number], limit)
        yield from make.record(first + registers.index("status"), 1)
        yield from make.record(first + registers.first_counter, engine.counters)

    def traffic(self, stream: str) -> BusTraffic:
        """Return the traffic of a stream on the bus, by formula."""
        return bus_traffic(self.moves[stream].walk, self.engine.movers[stream][1])

    def status(self, words: Sequence[int]) -> dict[str, int]:
        """Return flags and counters of the engine, by name, from the words of its records."""
        registers = self.engine.registers
        flags, *halves = words
        status = {f"status_{name}": flags >> bit & 1 for bit, name in enumerate(FLAGS)}
        names = [each.name for each in registers.registers[registers.first_counter :: 2]]
        for name, low, high in zip(names, halves[::2], halves[1::2], strict=True):
            status[name] = low | high << 32
        return status


@dataclass(frozen=True)
class PlacedList:
    """A list of commands with its place in memory.

    Attributes:
        system: the accelerator.
        passes: the passes, one after the other.
        records: walk of the words that the list records.
        address: byte address of the list.
        commands: its commands.
        words: their words.
    """

    system: System
    passes: Sequence[BoardPass]
    records: Walk
    address: int
    commands: Sequence[Command] = field(repr=False)

    @property
    def words(self) -> NDArray[np.uint32]:
        """The words of the list."""
        return np.array(encoded(self.commands), np.uint32)

    @property
    def fetched(self) -> Walk:
        """The walk of its words."""
        return Walk(self.address // WORD_BYTES, self.words.size)

    @property
    def settings(self) -> list[dict[str, int]]:
        """For each pass, the index of the word of each of its settings in ``words``, by name."""
        found, at, index = [], _BEGIN, len(encoded(self.commands[:_BEGIN]))
        for each in self.passes:
            # The first word of a command is none of its registers.
            places = enumerate(each.settings)
            found.append({name: index + 1 + i + i // MOST_WORDS for i, name in places})
            begin, at = at, at + _count(each, 0)
            index += len(encoded(self.commands[begin:at]))
        return found

    @property
    def ring(self) -> list[tuple[int, int]]:
        """The writes of the host that start the list: offset and word of each."""
        values = {
            "interrupt": 1,
            "interrupt_enable": 1,
            "list_low": self.address,
            "list_words": self.words.size,
            "control": 1,
        }
        return [(self.system.host[name].offset, value) for name, value in values.items()]

    @property
    def formula(self) -> Formula:
        """Traffic on the bus, of the list as well."""
        interface = self.system.design.interface
        movers = dict((*interface.readers, *interface.writers))
        read = bus_traffic(self.fetched, movers[LIST])
        write = bus_traffic(self.records, movers[RECORDS])
        for each in self.passes:
            inputs = {pin.name for pin in each.engine.ports.inputs}
            for stream in each.moves:
                traffic = each.traffic(stream)
                if stream in inputs:
                    read += traffic
                else:
                    write += traffic
        return Formula(read, write)

    def status(self, load: Load) -> list[dict[str, int]]:
        """Return for each pass the recorded flags and counters of its engine, by name."""
        data = load(self.records.base * WORD_BYTES, self.records.words * WORD_BYTES)
        words = [int(word) for word in data.view(np.uint32)]
        sizes = [1 + each.engine.counters for each in self.passes]
        ends = list(accumulate(sizes))
        return [
            each.status(words[end - size : end])
            for each, size, end in zip(self.passes, sizes, ends, strict=True)
        ]

    @property
    def begins(self) -> list[int]:
        """The number of the first command of each pass; the first command of the list is 1."""
        counts = (_count(each, 0) for each in self.passes[:-1])
        return list(accumulate(counts, initial=_BEGIN + 1))

    def pass_at(self, command: int) -> int:
        """Return the number of the pass to which a command belongs."""
        return sum(begin <= command for begin in self.begins[1:])

    def streams(self, command: int) -> list[str]:
        """Return the names of all streams by number, as the pass of a command calls them."""
        movers = self.passes[self.pass_at(command)].engine.movers
        own = {number: stream for stream, (number, _) in movers.items()}
        numbers = self.system.design.numbers
        return [own.get(number, name) for name, number in numbers.items()]

    def waiting(self, mask: int, command: int) -> list[str]:
        """Return the streams of a mask, with the names that they have at a command."""
        names = self.streams(command)
        return [name for number, name in enumerate(names) if mask >> number & 1]


_BEGIN = 2
"""Commands of a list before its first pass."""


def _count(each: BoardPass, limit: int) -> int:
    return sum(1 for _ in each.commands(limit))


def placed_list(
    system: System,
    passes: Sequence[BoardPass],
    alloc: Callable[[int], int],
    limit: int,
    last: Command = make.END,
) -> PlacedList:
    """Place a list of passes, and its records, in memory.

    Args:
        system: the accelerator.
        passes: the passes, one after the other; at least one.
        alloc: reserves a number of bytes, and returns their address.
        limit: cycles that each wait may take.
        last: the command that ends the list.

    Raises:
        ValueError: a mover cannot make a walk; the message names the stream.
    """
    for each in passes:
        for stream, moved in each.moves.items():
            try:
                moved.walk.check(each.engine.movers[stream][1])
            except ValueError as error:
                raise ValueError(f"{each.engine.name}: {stream}: {error}") from error
    recorded = sum(1 + each.engine.counters for each in passes)
    records = Walk(alloc(recorded * WORD_BYTES) // WORD_BYTES, recorded)
    number = system.design.numbers[RECORDS]
    commands = [
        make.walk(number, records),
        make.start([number]),
        *(command for each in passes for command in each.commands(limit)),
        make.wait([number], [], limit),
        last,
    ]
    address = alloc(len(encoded(commands)) * WORD_BYTES)
    return PlacedList(system, passes, records, address, commands)
