"""Golden interpreter of a list: its failure, the bursts of each stream, and the bytes of memory.

The player gives the effects of commands. This module gives them their meaning in memory.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from drawn_lists import SCRATCH, UNITS
from list_memory import words_at
from list_system import CONTROL, Adder

from merp.models.memory.bursts import Burst, bursts_of
from merp.models.memory.params.commands import (
    ENGINE,
    TAIL_LOW,
    TAIL_WORD,
    WALK_WORDS,
    WORD,
    Failure,
)
from merp.models.memory.params.mover import DIMENSIONS, Mover
from merp.models.memory.params.subsystem import RECORDS, SubsystemDesign
from merp.models.memory.player import Player
from merp.models.memory.walk import Run

Word = tuple[int, int]
"""A word of a stream, and a bit for each of its bytes that counts."""


def adds(words: Sequence[Word], size: int) -> int:
    """The word that ``adder`` writes, of ``size`` bytes."""
    return sum(word for word, _ in words) % (1 << 8 * size)


def changes(words: Sequence[Word], size: int) -> int:
    """The word that ``copier`` writes: its bytes that count, changed."""
    word, keep = words[0]
    return sum((word >> 8 * at & 0xFF ^ 0xA5) << 8 * at for at in range(size) if keep >> at & 1)


QUEUE = 2
"""Words of a stream that an engine can hold."""

WORK: dict[str, Callable[[Sequence[Word], int], int]] = {"adder": adds, "copier": changes}


class EngineRegisters(Adder):
    """Registers of an engine, with some that only keep their words."""

    def __init__(self) -> None:
        super().__init__()
        self.scratch = dict.fromkeys(SCRATCH, 0)

    def write(self, index: int, word: int) -> bool:
        """Write a register, as ``Registers`` of the player."""
        if index in self.scratch:
            self.scratch[index] = word
            return True
        return super().write(index, word)

    def read(self, index: int) -> int | None:
        """Return a register, as ``Registers`` of the player."""
        return self.scratch[index] if index in self.scratch else super().read(index)


def runs_of(words: Sequence[int]) -> Iterator[Run]:
    """The runs of a walk, from the words of its command."""
    address, length = words[0] | words[1] << WORD, words[2] | words[3] << WORD
    length &= (1 << WORD + TAIL_LOW) - 1
    more = [words[4 + 3 * each] for each in range(DIMENSIONS)]
    jumps = [words[5 + 3 * each] | words[6 + 3 * each] << WORD for each in range(DIMENSIONS)]
    steps = [0] * DIMENSIONS
    while True:
        yield Run(address, length + 1)
        inside = 0
        while inside < DIMENSIONS and steps[inside] == more[inside]:
            steps[inside] = 0
            inside += 1
        if inside == DIMENSIONS:
            return
        steps[inside] += 1
        address = (address + jumps[inside]) % (1 << 2 * WORD)


class StartedWalk:
    """A walk that a list has started.

    Attributes:
        places: address of each word, in words.
        bursts: its bursts.
        words: of a stream that is read, all words; of one that is written, those that come.
    """

    def __init__(self, words: Sequence[int], mover: Mover) -> None:
        runs = list(runs_of(words))
        self.mover = mover
        self.places = [at for run in runs for at in range(run.address, run.address + run.words)]
        self.bursts: list[Burst] = list(bursts_of(runs, mover))
        self.tail = words[TAIL_WORD] >> TAIL_LOW
        self.words: list[Word] = []
        self.used = 0

    def read(self, data: bytes | bytearray) -> None:
        """Take the words out of memory."""
        size = self.mover.word_bytes
        whole = (1 << size) - 1
        for at in self.places:
            word = int.from_bytes(data[size * at : size * (at + 1)], "little")
            self.words.append((word, whole))
        if self.tail:
            self.words[-1] = self.words[-1][0], (1 << self.tail) - 1

    def write(self, data: bytearray, first: int, count: int) -> None:
        """Put some of the words into memory."""
        size = self.mover.word_bytes
        for at in range(first, first + count):
            place, (word, _) = size * self.places[at], self.words[at]
            data[place : place + size] = word.to_bytes(size, "little")

    @property
    def parts(self) -> Iterator[tuple[int, int]]:
        """The number of the first word of each burst, and how many words it has."""
        first = 0
        for burst in self.bursts:
            count = burst.words(self.mover.lanes)
            yield first, count
            first += count

    @property
    def full(self) -> bool:
        """Whether there is a word for each place."""
        return len(self.words) == len(self.places)


@dataclass
class _Unit:
    """An engine: its registers, and the words that it has made, but not yet sent."""

    registers: EngineRegisters = field(default_factory=EngineRegisters)
    made: list[int] = field(default_factory=list)
    ran: bool = False


class _Stuck(Exception):
    """The list goes on no further."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure


class GoldenList:
    """What a list does if nothing disturbs it.

    Attributes:
        failure: why it ended; None if it does not end by itself.
        commands: commands that were begun.
        walks: the walks of each stream, in the order of their starts.
        waited: number of walks of each stream for which the list has waited.
        limits: the number of each command that waits, with its limit.
        loads: the bitstream that it loads at its end, if any.
        stuck_on: streams that cannot end, if a wait reaches its limit for this reason.
    """

    def __init__(
        self, design: SubsystemDesign, data: bytes, base: int, words: int, most: int = 1000
    ) -> None:
        """Play the list at a byte address, but at most so many commands."""
        self.design, self.data = design, bytearray(data)
        self.names = list(design.numbers)
        self.movers = dict((*design.interface.readers, *design.interface.writers))
        self.kept = {name: [0] * WALK_WORDS for name in self.names}
        self.walks: dict[str, list[StartedWalk]] = {name: [] for name in self.names}
        self.waited = dict.fromkeys(self.names, 0)
        self.limits: dict[int, int] = {}
        self.stuck_on: set[str] = set()
        self.units = {name: _Unit() for name in UNITS}
        self.recorded: list[int] = []
        self.loads: list[int] = []
        self._effects = 0
        self.player = Player(design.processor, self._word, self, most)
        self.failure: Failure | None = None
        try:
            self.failure = self.player.play(base // 4, words).failure
            self._catch_up()
        except RuntimeError:
            self._end()
        except _Stuck as stuck:
            self.failure = stuck.failure
        self._move()  # words that move before the movers stop
        self.commands = self.player.found.commands

    @property
    def complete(self) -> bool:
        """Whether the list has waited for every walk."""
        return all(self.waited[name] == len(walks) for name, walks in self.walks.items())

    def _end(self) -> None:
        try:
            self._catch_up()
        except _Stuck as stuck:
            self.failure = stuck.failure

    def _word(self, at: int) -> int:
        self._catch_up()
        return words_at(self.data, 4 * at, 1)[0]

    def write(self, index: int, word: int) -> bool:
        """Write a register of an engine."""
        self._catch_up()
        self._move()
        if index // ENGINE >= len(self.units):
            return False
        unit = list(self.units.values())[index // ENGINE]
        accepted = unit.registers.write(index % ENGINE, word)
        if index % ENGINE == CONTROL:
            unit.ran = unit.registers.left > 0
        return accepted

    def read(self, index: int) -> int | None:
        """Read a register of an engine."""
        self._catch_up()
        self._move()
        if index // ENGINE >= len(self.units):
            return None
        return list(self.units.values())[index // ENGINE].registers.read(index % ENGINE)

    def _catch_up(self) -> None:
        """Give effects their meaning; all new ones belong to the present command."""
        effects = self.player.found.effects
        while self._effects < len(effects):
            kind, *values = effects[self._effects]
            self._effects += 1
            numbers = [int(each) for each in values]
            if kind == "walk":
                self.kept[self.names[numbers[0]]][numbers[1]] = numbers[2]
            elif kind == "start":
                self._start(numbers[0])
            elif kind == "wait":
                self._wait(*numbers)
            elif kind == "load":
                self.loads += numbers
            elif kind == "record":
                self.recorded += numbers
                self._move()
                if self.recorded:
                    self.stuck_on = {RECORDS}
                    raise _Stuck(Failure.TIME)

    def _start(self, mask: int) -> None:
        for number, name in enumerate(self.names):
            if mask >> number & 1:
                walk = StartedWalk(self.kept[name], self.movers[name])
                self.walks[name].append(walk)
                if number < len(self.design.readers):
                    walk.read(self.data)

    def _move(self) -> None:
        """Move all words that can move."""
        for name, unit in self.units.items():
            readers, writer = UNITS[name]
            sources = [self.walks[each][-1] for each in readers if self.walks[each]]
            size, registers = self.movers[writer].word_bytes, unit.registers
            registers.count += self._fill(writer, unit.made)
            while (
                registers.left
                and len(unit.made) < QUEUE
                and len(sources) == len(readers)
                and all(each.used < len(each.words) for each in sources)
            ):
                words = [each.words[each.used] for each in sources]
                unit.made.append(WORK[name](words, size))
                for each in sources:
                    each.used += 1
                registers.left -= 1
                registers.count += self._fill(writer, unit.made)
        self._fill(RECORDS, self.recorded)

    def _fill(self, name: str, made: list[int]) -> int:
        if not self.walks[name]:
            return 0
        walk = self.walks[name][-1]
        count = min(len(made), len(walk.places) - len(walk.words))
        walk.words += [(word, -1) for word in made[:count]]
        del made[:count]
        return count

    def _done(self, name: str) -> bool:
        if not self.walks[name]:
            return False
        walk = self.walks[name][-1]
        number = self.design.numbers[name]
        if number >= len(self.design.readers):
            return walk.full
        unit = next(self.units[unit] for unit, (readers, _) in UNITS.items() if name in readers)
        return walk.used + min(unit.registers.left, QUEUE) >= len(walk.words)

    def _wait(self, mask: int, limit: int, engines: int) -> None:
        self.limits[self.player.found.commands] = limit
        self._move()
        names = [name for at, name in enumerate(self.names) if mask >> at & 1]
        late = {name for name in names if not self._done(name)}
        running = [
            unit
            for at, unit in enumerate(self.units.values())
            if engines >> at & 1 and (unit.registers.left or unit.made or not unit.ran)
        ]
        if late or running:
            self.stuck_on = late
            raise _Stuck(Failure.TIME)
        for name in names:
            self.waited[name] = len(self.walks[name])
            if self.design.numbers[name] >= len(self.design.readers):
                walk = self.walks[name][-1]
                walk.write(self.data, 0, len(walk.places))
