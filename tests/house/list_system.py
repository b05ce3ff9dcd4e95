"""A memory subsystem that plays lists: a host, an engine that adds two streams, and a memory."""

from collections.abc import Collection, Mapping, Sequence
from random import Random

from list_memory import put_words

from block_bench import BlockBench, Recorded, Sample
from merp.hdl.axi.axi_lite import AxiLite
from merp.hdl.base.signals import Bundles, Stream, bits
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.bitstream_loader import LoaderPorts
from merp.hdl.memory.memory_subsystem import EnginePorts, memory_subsystem
from merp.models.memory import commands as make
from merp.models.memory.commands import Command, encoded
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.params.subsystem import LOADS, SubsystemDesign
from merp.models.memory.walk import Dimension, Walk
from merp.testbenches.memory.axi4_rules import Axi4Rules
from merp.testbenches.memory.axi_memory import AxiMemory, Conduct
from merp.testbenches.memory.lite_pins import LiteHost, LiteRegisters

WIDTH = 16
"""Bits of the words that are read; sums have 32."""


def design_of(port: MemoryPort) -> SubsystemDesign:
    """The streams of the adder: ``one`` and ``two`` are read, ``sum`` is written."""
    places = max(32, port.burst_beats)
    terms, sums = (
        Mover(port=port, word_bits=width, places=places, bursts=4) for width in (WIDTH, 32)
    )
    return SubsystemDesign(
        port=port, readers=(("one", terms), ("two", terms)), writers=(("sum", sums),)
    )


PORT = MemoryPort(data_bits=64, burst_beats=16, turn_beats=32)
DESIGN = design_of(PORT)
VERSION = "1.2.3"
MAP = DESIGN.registers(VERSION)
"""Registers of the host."""

SIZE = 1 << 16
LIST, RECORDS = 0x8000, 0xC000
STATE = ("failure", "commands", "waiting", "error_stream", "error_address")
CONTROL, WORDS, COUNT = 4, 8, 9
"""Registers of the engine: its control, the words of a run, the words it has moved."""

PROMPT = Conduct()


class Adder:
    """An engine: it adds the words of two streams, and interrupts after the last sum."""

    def __init__(self) -> None:
        self.words = 0
        self.left = 0
        self.count = 0
        self.pending = 0
        self.aborts = 0

    def write(self, index: int, word: int) -> bool:
        """Write a register, as ``Registers`` of the player."""
        if index == CONTROL:
            if word & 2:
                self.left = self.count = self.pending = 0
                self.aborts += 1
            elif word & 1:
                self.left, self.count, self.pending = self.words, 0, 0
            return True
        if index == WORDS:
            self.words = word
        return index == WORDS

    def read(self, index: int) -> int | None:
        """Return a register, as ``Registers`` of the player."""
        return {CONTROL: 0, WORDS: self.words, COUNT: self.count}.get(index)


class System:
    """The subsystem with everything around it. The host plays lists one after the other.

    Attributes:
        lists: byte address and words of each list that has not begun.
        memory, rules, host, engine: what is around the subsystem.
        before: the bytes of memory before the first list.
        ends: cycle of each interrupt of the host.
        owed, aborted: of each interrupt and of each abort, the bursts that memory had not answered.
    """

    def __init__(
        self, lists: Sequence[Sequence[Command]], conduct: Conduct = PROMPT, seed: int = 1,
        abort_at: Collection[int] = (), rate: float = 1.0, last: int = 0, enable: int = 1,
        design: SubsystemDesign = DESIGN,
    ) -> None:  # fmt: skip
        """Place lists in memory.

        Args:
            lists: their commands.
            conduct: how memory behaves.
            seed: of everything that is random.
            abort_at: cycles in which the host aborts the list.
            rate: share of the cycles in which the engine takes words that are there.
            last: TLAST of every sum.
            enable: whether the host enables its interrupt.
            design: the subsystem, with the streams of ``design_of``.
        """
        self.rng = Random(seed)
        self.rate, self.abort_at, self.last = rate, abort_at, last
        self.design = design
        self.map = design.registers(VERSION)
        self.names = (*STATE, *(LOADS if design.loads else ()))
        self.memory = AxiMemory(design.port, bytearray(self.rng.randbytes(SIZE)), conduct, seed)
        self.rules = Axi4Rules(design.port)
        self.host = LiteHost()
        self.engine = Adder()
        self.bus = LiteRegisters(self.engine, "engines_adder_", seed)
        self.held: int | None = None
        self.taking = self.aborts = 0
        place = LIST
        self.lists = []
        for commands in lists:
            words = encoded(commands)
            put_words(self.memory.data, place, words)
            self.lists.append((place, len(words)))
            place += 4 * len(words)
        self.before = bytes(self.memory.data)
        self.ends: list[int] = []
        self.owed: list[int] = []
        self.aborted: list[int] = []
        self._told: list[int] = []
        self.host.write(MAP["interrupt_enable"].offset, enable)

    def ring(self) -> None:
        """Start the next list."""
        place, words = self.lists.pop(0)
        self.host.write(MAP["list_low"].offset, place)
        self.host.write(MAP["list_words"].offset, words)
        self.host.write(MAP["control"].offset, 1)

    def drive(self, cycle: int, seen: Sample) -> Mapping[str, int]:
        """Return the inputs of a cycle."""
        pins = {} if cycle < 6 else seen
        inputs = {"rst": int(cycle < 5), "streams_sum_valid": 0}
        if pins:
            self.rules.sample(pins)
            self.add(pins)
            self.attend(cycle, pins)
        inputs |= self.offer()
        if cycle > 6:
            inputs |= self.host.step(pins) | self.bus.step(pins)
        if cycle >= 5:
            inputs |= self.memory.step(pins)
        return inputs | {"interrupts": self.engine.pending}

    def attend(self, cycle: int, pins: Sample) -> None:
        """Do what the host does in a cycle."""
        if cycle in self.abort_at:
            self.aborted.append(self.rules.owed)
            self.host.write(MAP["control"].offset, 2)
        if pins["interrupt"] and self.host.idle:
            self.ended(cycle)
            self.host.write(MAP["interrupt"].offset, 1)
            if self.lists:
                self.ring()
        if cycle == 10:
            self.ring()

    def ended(self, cycle: int) -> None:
        """Record an end of a list, and read the state of the subsystem."""
        self.ends.append(cycle)
        self.owed.append(self.rules.owed)
        self._told.append(len(self.host.answers))
        for name in self.names:
            self.host.read(self.map[f"status_{name}"].offset)

    def add(self, seen: Sample) -> None:
        """A word of each stream goes in once both are there; their sum comes out later."""
        if seen["streams_sum_valid"] and seen["streams_sum_ready"]:
            self.held = None
            self.engine.count += 1
            self.engine.pending |= int(not self.engine.left)
        both = seen["streams_one_valid"] and seen["streams_two_valid"]
        if self.taking:
            assert both
            self.held = seen["streams_one_data"] + seen["streams_two_data"]
            self.engine.left -= 1
            self.taking = 0
        elif both and self.held is None and self.engine.left and self.rng.random() < self.rate:
            self.taking = 1

    def offer(self) -> Mapping[str, int]:
        """Return the pins of the engine's streams."""
        if self.engine.aborts > self.aborts:  # it drops what it has taken
            self.aborts = self.engine.aborts
            self.held, self.taking = None, 0
        return {
            "streams_one_ready": self.taking,
            "streams_two_ready": self.taking,
            "streams_sum_valid": int(self.held is not None),
            "streams_sum_data": self.held or 0,
            "streams_sum_last": self.last,
        }

    @property
    def states(self) -> list[dict[str, int]]:
        """What the host read after each interrupt."""
        answers = [self.host.answers[at : at + len(self.names)] for at in self._told]
        return [dict(zip(self.names, (word for _, word in each), strict=True)) for each in answers]

    def state(self) -> dict[str, int]:
        """What the host read after the last interrupt."""
        return self.states[-1]

    def run(self, cycles: int) -> Recorded:
        """Simulate so many cycles."""
        trace = bench(self.design).run(self.drive, cycles)
        assert self.rules.faults == []
        return trace


def bench(design: SubsystemDesign = DESIGN) -> BlockBench:
    """The bench of a subsystem."""
    return BlockBench(
        memory_subsystem,
        "clk rst interrupt",
        s_axi=AxiLite(),
        streams=Bundles({"one": Stream(WIDTH), "two": Stream(WIDTH), "sum": Stream(32)}),
        engines=EnginePorts(engines=Bundles({"adder": AxiLite()}), interrupts=bits(1)),
        m_axi=Axi4(design.port),
        loader=LoaderPorts(design),
        registers=design.registers(VERSION),
        design=design,
    )


def a_pass(one: Walk, two: Walk, result: Walk, limit: int = 5000) -> list[Command]:
    """A run of the engine, with a record of two of its registers."""
    numbers = DESIGN.numbers
    return [
        *make.write(WORDS, [one.total]),
        make.walk(numbers["one"], one),
        make.walk(numbers["two"], two),
        make.walk(numbers["sum"], result),
        make.walk(numbers["records"], Walk(RECORDS // 4, 2)),
        make.start(numbers.values()),
        *make.write(CONTROL, [1]),
        make.wait([numbers[name] for name in ("one", "two", "sum")], [0], limit),
        *make.record(WORDS, 2),
        make.wait([numbers["records"]], [], limit),
    ]


ONE = Walk(5, 7, (Dimension(4, 20), Dimension(2, -3)))
TWO = Walk(600, 56)
SUM = Walk(4097, 4, (Dimension(14, 9),))
OTHER = Walk(4096 + 300, 56)
GOOD = [*a_pass(ONE, TWO, SUM), make.END]


def after(before: bytes, one: Walk, two: Walk, result: Walk) -> bytes:
    """Memory after a pass."""
    data = bytearray(before)

    def word(at: int) -> int:
        return int.from_bytes(before[2 * at : 2 * at + 2], "little")

    for a, b, y in zip(one.addresses(), two.addresses(), result.addresses(), strict=True):
        put_words(data, 4 * y, [word(a) + word(b)])
    put_words(data, RECORDS, [one.total, one.total])
    return bytes(data)


def untouched(system: System, *walks: Walk) -> None:
    """Only the words of these walks, which have 32 bits, and the records may have changed."""
    allowed = {4 * at + byte for walk in walks for at in walk.addresses() for byte in range(4)}
    allowed |= set(range(RECORDS, RECORDS + 8))
    changed = {
        at
        for at, (old, new) in enumerate(zip(system.before, system.memory.data, strict=True))
        if old != new
    }
    assert changed <= allowed
