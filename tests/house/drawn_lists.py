"""Random lists of commands for two engines: passes, registers, jumps, waits that are too short, and
commands that end the list.

The engine ``adder`` writes the sums of ``one`` and ``two`` to ``sum``. The engine ``copier`` writes
the words of ``source``, changed, to ``target``, often in place.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random

from list_system import CONTROL, COUNT, WORDS

from merp.models.memory import commands as make
from merp.models.memory.commands import Command, encoded
from merp.models.memory.params.commands import ENGINE, WALK_WORDS, WORD, Operation
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.params.subsystem import RECORDS, Loader, SubsystemDesign
from merp.models.memory.walk import Dimension, Walk

READERS = ("one", "two", "source")
WRITERS = ("sum", "target")
UNITS = {"adder": (("one", "two"), "sum"), "copier": (("source",), "target")}
"""Of each engine, the streams that it reads, and the stream that it writes."""

SCRATCH = range(16, 24)
"""Registers of an engine that only keep their words."""

SIZE = 1 << 16
LISTS = range(0x8000, 0xC000)
RECORDED = range(0xC000, 0xD000)
"""Bytes of the memory: all of them, those of lists, and those of records."""

PATIENT = 4000
"""Limit of a wait that no pass needs, in cycles."""

MORE = 7
"""Words behind the end of a list that its size sometimes includes."""


def design_of(port: MemoryPort, *widths: int, bursts: int) -> SubsystemDesign:
    """The subsystem of both engines, with the bits of ``one``, ``two``, ``sum`` and ``source``."""
    one, two, total, source = (
        Mover(port=port, word_bits=width, places=max(32, port.burst_beats), bursts=bursts)
        for width in widths
    )
    return SubsystemDesign(
        port=port,
        readers=tuple(zip(READERS, (one, two, source), strict=True)),
        writers=tuple(zip(WRITERS, (total, source), strict=True)),
        engines=len(UNITS),
        record_cycles=5000,
    )


DESIGNS = {
    "64": design_of(MemoryPort(data_bits=64, burst_beats=16, turn_beats=32), 16, 16, 32, 32,
                    bursts=4),
    "128": design_of(MemoryPort(data_bits=128, burst_beats=2, turn_beats=1, id_bits=2), 8, 64, 128,
                     16, bursts=1),
    "512": design_of(MemoryPort(data_bits=512, burst_beats=64, address_bits=40), 8, 32, 64, 512,
                     bursts=8),
}  # fmt: skip
"""Narrow and wide beats; bursts of two beats to 4 KiB; one burst on its way, or several."""

LOADING = "icape2"
DESIGNS_THAT_LOAD = {LOADING: replace(DESIGNS["64"], loader=Loader.ICAPE2)}
"""A subsystem whose lists load bitstreams."""


@dataclass
class DrawnList:
    """A list and its places.

    Attributes:
        parts: of each part its byte address, the size that host or jump name, and its words.
    """

    parts: list[tuple[int, int, list[int]]]

    @property
    def place(self) -> tuple[int, int]:
        """Byte address and size of the first part."""
        address, size, _ = self.parts[0]
        return address, size


class Drawing:
    """Draw one list after the other."""

    def __init__(self, rng: Random, design: SubsystemDesign) -> None:
        self.rng, self.design = rng, design
        self.movers = dict((*design.interface.readers, *design.interface.writers))
        widest = max(mover.word_bytes for mover in self.movers.values())
        self.area = range(0x1000 - 40 * widest, 0x1000 + 200 * widest)  # around a border of 4 KiB

    def draw(self, drop: bool) -> DrawnList:
        """Draw a list. With ``drop`` it first aborts the engines, which may still run."""
        rng = self.rng
        commands: list[Command] = []
        if drop or rng.random() < 0.2:
            for number in range(len(UNITS)):
                commands += make.write(number * ENGINE + CONTROL, [2])
        kinds = [self.one_pass] * 5 + [self.scratch, self.idle_commands]
        for _ in range(rng.choice([1, 2, 2, 3])):
            commands += rng.choice(kinds)()
        if rng.random() < 0.02:
            commands += self.too_many_records()
        commands.append(make.END)
        if rng.random() < 0.2:
            commands.insert(rng.randrange(len(commands)), self.bad())
        if self.design.loads and rng.random() < 0.8:  # the end, or streams that still run
            place = rng.choice([len(commands) - 1, rng.randrange(len(commands))])
            commands.insert(place, make.load(rng.getrandbits(WORD)))
        return self.placed(commands)

    def placed(self, commands: Sequence[Command]) -> DrawnList:
        """Cut a list into parts that jump to each other, each in a place of its own."""
        rng = self.rng
        cuts = sorted(rng.choices(range(len(commands) + 1), k=rng.choice([0, 0, 0, 1, 2])))
        borders = [0, *cuts, len(commands)]
        pieces = [encoded(commands[low:high]) for low, high in pairwise(borders)]
        jump_words = len(make.jump(0, 0).encoded())
        sizes = [len(piece) + jump_words for piece in pieces]
        sizes[-1] -= jump_words
        share = len(LISTS) // len(pieces) // 4
        rng.shuffle(slots := list(range(len(pieces))))
        places = [
            LISTS.start + 4 * (slot * share + rng.randrange(share - size - MORE))
            for slot, size in zip(slots, sizes, strict=True)
        ]
        sizes = [size + rng.choice([0, 0, 0, MORE]) for size in sizes]
        if rng.random() < 0.05:
            at = rng.randrange(len(sizes))
            sizes[at] = rng.randint(0, sizes[at])
        for at, piece in enumerate(pieces[:-1]):
            piece += make.jump(places[at + 1], sizes[at + 1]).encoded()
        return DrawnList(list(zip(places, sizes, pieces, strict=True)))

    def one_pass(self) -> list[Command]:
        """Run one engine, or both of them."""
        rng, numbers = self.rng, self.design.numbers
        chosen = rng.choice([("adder",), ("copier",), ("adder", "copier")])
        walks = self.walks(chosen)
        rng.shuffle(names := list(walks))
        begin: list[Command] = []
        runs: list[Command] = []
        for unit in chosen:
            words = walks[UNITS[unit][1]].total
            if rng.random() < 0.01:
                words += rng.choice([-1, 1])
            first = list(UNITS).index(unit) * ENGINE
            begin += make.write(first + WORDS, [words])
            runs += make.write(first + CONTROL, [1])
        for name in names:
            most = self.movers[name].word_bytes
            tail = rng.randint(0, most) if name == "source" else 0
            begin.append(make.walk(numbers[name], walks[name], tail))
        rng.shuffle(begin)
        starts = [make.start(numbers[name] for name in names)]
        if rng.random() < 0.3:
            starts = [make.start([numbers[name]]) for name in names]
        both = [*starts, *runs]
        if rng.random() < 0.3:
            rng.shuffle(both)
        return [*begin, *both, *self.waits(chosen, names), *self.records(chosen)]

    def waits(self, units: Iterable[str], names: Sequence[str]) -> list[Command]:
        """Wait for all streams of a pass and for its engines; a few limits are too short."""
        rng, numbers = self.rng, self.design.numbers
        limit = rng.choice([0, 1, 2, rng.randrange(200)]) if rng.random() < 0.05 else PATIENT
        engines = [list(UNITS).index(unit) for unit in units]
        streams = [numbers[name] for name in names]
        if rng.random() < 0.7:
            return [make.wait(streams, engines, limit)]
        parts = [make.wait([each], [], limit) for each in streams]
        parts += [make.wait([], [each], limit) for each in engines]
        rng.shuffle(parts)
        return parts

    def records(self, units: Sequence[str]) -> list[Command]:
        """Record registers of an engine that has ended its run."""
        rng, numbers = self.rng, self.design.numbers
        first = list(UNITS).index(rng.choice(units)) * ENGINE
        reads = [make.record(first + each, 1)[0] for each in (WORDS, COUNT, CONTROL)]
        reads += make.record(first + WORDS, 2)
        chosen = rng.sample(reads, rng.randrange(4))
        total = sum(each.count or 0 for each in chosen)
        if not total:
            return []
        way = self.walk(total, self.movers[RECORDS], RECORDED)
        start = [make.walk(numbers[RECORDS], way), make.start([numbers[RECORDS]])]
        return [*start, *chosen, make.wait([numbers[RECORDS]], [], PATIENT)]

    def too_many_records(self) -> list[Command]:
        """Record a register more than the walk has words."""
        number = self.design.numbers[RECORDS]
        way = self.walk(self.rng.randint(1, 3), self.movers[RECORDS], RECORDED)
        return [
            make.walk(number, way), make.start([number]),
            *make.write(SCRATCH[0], [7]), *make.record(SCRATCH[0], 1) * (way.total + 1),
        ]  # fmt: skip

    def scratch(self) -> list[Command]:
        """Write registers, and expect their words; one time in ten, another word."""
        rng = self.rng
        first = rng.randrange(len(UNITS)) * ENGINE + SCRATCH.start
        words = [rng.getrandbits(32) for _ in range(rng.randint(1, len(SCRATCH)))]
        at = rng.randrange(len(words))
        flaw = int(rng.random() < 0.1)
        return [*make.write(first, words), make.expect(first + at, words[at] ^ flaw)]

    def idle_commands(self) -> list[Command]:
        """Commands without effect on memory."""
        rng = self.rng
        name = rng.choice([*READERS, *WRITERS, RECORDS])
        way = self.walk(rng.randint(1, 40), self.movers[name], self.area)
        each = [
            make.INTERRUPT, make.INTERRUPT, make.start([]), make.wait([], [], rng.choice([0, 9])),
            make.walk(self.design.numbers[name], way),
        ]  # fmt: skip
        return rng.sample(each, rng.randint(1, len(each)))

    def bad(self) -> Command:
        """A command that ends the list."""
        rng, streams = self.rng, self.design.processor.streams
        engine = rng.randrange(len(UNITS)) * ENGINE
        kinds: list[Callable[[], Command]] = [
            lambda: make.END,
            lambda: Command(rng.choice([0, rng.randint(10, 255)]), (), rng.getrandbits(16)),
            lambda: Command(Operation.WALK, (0,) * (WALK_WORDS + rng.choice([-1, 1]))),
            lambda: Command(Operation.WALK, (0,) * WALK_WORDS, rng.randint(streams, 0xFFFF)),
            lambda: make.start([rng.randint(streams, 31)]),
            lambda: Command(Operation.WAIT, (1 << rng.randint(streams, 31), 9)),
            lambda: Command(Operation.WAIT, (0, 9), 1 << rng.randint(len(UNITS), 15)),
            lambda: Command(rng.choice([Operation.WRITE, Operation.RECORD])),
            lambda: Command(Operation.END, (0,)),
            lambda: make.write(rng.choice([COUNT, 5, engine + 900, 5 * ENGINE + 8]), [0])[0],
            lambda: make.expect(rng.choice([engine + 7, 0xFFFF]), 0),
            lambda: make.expect(engine + CONTROL, 1),
            lambda: make.wait([self.design.numbers[RECORDS]], [], rng.randrange(60)),
        ]
        return rng.choice(kinds)()

    def walks(self, units: Iterable[str]) -> dict[str, Walk]:
        """The walks of a pass. No engine writes a byte that another stream uses at this time."""
        rng = self.rng
        walks: dict[str, Walk] = {}
        used: set[int] = set()
        for unit in units:
            readers, writer = UNITS[unit]
            total = rng.choice([1, 2, 3, 17, 24, 36, rng.randint(1, 40)])
            for name in (*readers, writer):
                much = total + rng.choice([-1, 1, 5]) * (rng.random() < 0.01)
                walks[name] = self.walk(max(1, much), self.movers[name], self.area)
            if unit == "copier" and rng.random() < 0.4:
                walks["target"] = walks["source"]
        for name in [each for each in walks if each in READERS]:
            used |= self.bytes_of(name, walks[name])
        for name in [each for each in walks if each in WRITERS]:
            ways = list(walks[name].addresses())
            others = used
            if name == "target" and walks["source"] == walks["target"]:
                reads = [self.bytes_of(each, walks[each]) for each in ("one", "two", "sum")
                         if each in walks]  # fmt: skip
                others = set().union(*reads)
                if len(set(ways)) == len(ways) and not others & self.bytes_of(name, walks[name]):
                    continue
                others = used
            while others & self.bytes_of(name, walks[name]):
                walks[name] = self.walk(walks[name].total, self.movers[name], self.area)
            used |= self.bytes_of(name, walks[name])
        return walks

    def bytes_of(self, name: str, way: Walk) -> set[int]:
        """The bytes of a walk."""
        size = self.movers[name].word_bytes
        return {size * at + byte for at in way.addresses() for byte in range(size)}

    def walk(self, total: int, mover: Mover, area: range) -> Walk:
        """A walk of so many words within some bytes of memory."""
        rng, size = self.rng, mover.word_bytes
        low, high = -(-area.start // size), area.stop // size
        while True:
            left, counts = total, []
            for _ in range(rng.randrange(5)):
                divisors = [each for each in range(1, left + 1) if not left % each]
                counts.append(rng.choice(divisors))
                left //= counts[-1]
            far = rng.choice([left, 3, 20, 60])
            steps = tuple(Dimension(count, rng.randint(-far, far)) for count in counts)
            way = Walk(0, left, steps)
            begin, end = way.span
            if end - begin <= high - low:
                return way.moved(rng.randint(low - begin, high - end))
