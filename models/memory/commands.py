"""Golden model of command lists: commands and their words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from merp.models.memory.params.commands import (
    MOST_WORDS,
    TAIL_LOW,
    TAIL_WORD,
    WALK_WORDS,
    WORD,
    Operation,
)
from merp.models.memory.params.mover import DIMENSIONS
from merp.models.memory.walk import Dimension, Walk

MASK = (1 << WORD) - 1


@dataclass(frozen=True)
class Command:
    """A command.

    Attributes:
        operation: its operation.
        words: the words that belong to it, of 32 bits.
        place: its place, of 16 bits.
        count: the number in its first word, if it is not the number of words.
    """

    operation: int
    words: tuple[int, ...] = ()
    place: int = 0
    count: int | None = None

    def encoded(self) -> list[int]:
        """Return its words in memory."""
        count = len(self.words) if self.count is None else self.count
        return [self.operation << 24 | count << 16 | self.place, *self.words]


def write(register: int, words: Sequence[int]) -> list[Command]:
    """Return the commands that write ``words`` to registers from ``register`` on."""
    return [
        Command(Operation.WRITE, tuple(words[at : at + MOST_WORDS]), register + at)
        for at in range(0, len(words), MOST_WORDS)
    ]


def walk(stream: int, way: Walk, tail: int = 0) -> Command:
    """Return the command that sets the walk of a stream, whose addresses count words.

    ``tail`` is the number of bytes of the last word that count; 0: all of them.
    """
    dimensions = (*way.dimensions, *(Dimension(),) * DIMENSIONS)[:DIMENSIONS]
    words = [*_halves(way.base), *_halves(way.words - 1)]
    jumps = Walk(way.base, way.words, dimensions).jumps
    for dimension, jump in zip(dimensions, jumps, strict=True):
        words += [dimension.count - 1, *_halves(jump)]
    words[TAIL_WORD] |= tail << TAIL_LOW
    assert len(words) == WALK_WORDS
    return Command(Operation.WALK, tuple(words), stream)


def start(streams: Iterable[int]) -> Command:
    """Return the command that starts the walks of ``streams``."""
    return Command(Operation.START, (_mask(streams),))


def wait(streams: Iterable[int], engines: Iterable[int], limit: int) -> Command:
    """Return the command that waits for ends of walks and for interrupts, ``limit`` cycles long.

    Raises:
        ValueError: the limit has more than 32 bits.
    """
    if not 0 <= limit <= MASK:
        raise ValueError(f"limit must be 0 to {MASK}, not {limit}")
    return Command(Operation.WAIT, (_mask(streams), limit), _mask(engines))


def record(register: int, count: int) -> list[Command]:
    """Return the commands that record ``count`` registers from ``register`` on."""
    return [
        Command(Operation.RECORD, (), register + at, min(MOST_WORDS, count - at))
        for at in range(0, count, MOST_WORDS)
    ]


def expect(register: int, value: int) -> Command:
    """Return the command that ends the list if a register has another value."""
    return Command(Operation.EXPECT, (value,), register)


def jump(address: int, words: int) -> Command:
    """Return the command that goes on with the list of ``words`` words at a byte address."""
    return Command(Operation.JUMP, (*_halves(address), words))


def load(address: int) -> Command:
    """Return the command that ends the list, and loads the bitstream at a flash address.

    Args:
        address: the word for the register WBSTAR of a 7-series FPGA. Its bits 28 to 0 are the start
            address in the units of the flash, bits 31 to 29 are for the pins RS.

    Raises:
        ValueError: the address has more than 32 bits.
    """
    if not 0 <= address <= MASK:
        raise ValueError(f"flash address must be 0 to {MASK}, not {address}")
    return Command(Operation.LOAD, (address,))


INTERRUPT = Command(Operation.INTERRUPT)
END = Command(Operation.END)


def encoded(commands: Iterable[Command]) -> list[int]:
    """Return the words of a list."""
    return [word for command in commands for word in command.encoded()]


def _halves(value: int) -> tuple[int, int]:
    return value & MASK, value >> WORD & MASK


def _mask(numbers: Iterable[int]) -> int:
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask
