"""A host, an engine and memory around the subsystem: passes, records, errors, aborts, the VHDL."""

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from list_memory import put_words

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.axi.axi_lite import AxiLite
from merp.hdl.base.signals import Bundles, Stream, bits
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.command_processor import CONTROL_INDEX
from merp.hdl.memory.memory_subsystem import memory_subsystem
from merp.models.memory import commands as make
from merp.models.memory.commands import Command, encoded
from merp.models.memory.params.commands import Failure
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover
from merp.models.memory.params.subsystem import SubsystemDesign
from merp.models.memory.walk import Dimension, Walk
from merp.testbenches.memory.axi4_rules import Axi4Rules
from merp.testbenches.memory.axi_memory import AxiMemory, Conduct
from merp.testbenches.memory.lite_pins import LiteHost, LiteRegisters

PORT = MemoryPort(data_bits=64, burst_beats=16, turn_beats=32)
WIDTH = 16


def mover(bits_: int) -> Mover:
    return Mover(port=PORT, word_bits=bits_, places=32, bursts=4)


DESIGN = SubsystemDesign(
    port=PORT, readers=(("one", mover(WIDTH)), ("two", mover(WIDTH))), writers=(("sum", mover(32)),)
)
MAP = DESIGN.registers("1.2.3")
SIZE = 1 << 16
LIST, RECORDS = 0x8000, 0xC000
STATE = ("failure", "commands", "waiting", "error_stream")
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
        return {CONTROL: 0, WORDS: self.words, COUNT: self.count}.get(index)


class System:
    """The subsystem with everything around it; ``lists`` are played one after the other."""

    def __init__(
        self, lists: Sequence[Sequence[Command]], conduct: Conduct = PROMPT, seed: int = 1,
        abort_at: int = 1 << 30, rate: float = 1.0,
    ) -> None:  # fmt: skip
        self.rng = Random(seed)
        self.rate, self.abort_at = rate, abort_at
        self.memory = AxiMemory(PORT, bytearray(self.rng.randbytes(SIZE)), conduct, seed)
        self.rules = Axi4Rules(PORT)
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
        self.cycles = 0
        self.host.write(MAP["interrupt_enable"].offset, 1)

    def ring(self) -> None:
        place, words = self.lists.pop(0)
        self.host.write(MAP["list_low"].offset, place)
        self.host.write(MAP["list_words"].offset, words)
        self.host.write(MAP["control"].offset, 1)

    def drive(self, cycle: int, seen: Sample) -> Mapping[str, int]:
        pins = {} if cycle < 6 else seen
        inputs = {"rst": int(cycle < 5), "streams_sum_valid": 0}
        if pins:
            self.rules.sample(pins)
            self.add(pins)
            if cycle == self.abort_at:
                self.host.write(MAP["control"].offset, 2)
            if pins["interrupt"] and self.host.idle:
                self.ends.append(cycle)
                self.host.write(MAP["interrupt"].offset, 1)
                if self.lists:
                    self.ring()
            if cycle == 10:
                self.ring()
            if cycle == self.cycles - 100:
                for name in STATE:
                    self.host.read(MAP[f"status_{name}"].offset)
        inputs |= self.offer()
        if cycle > 6:
            inputs |= self.host.step(pins) | self.bus.step(pins)
        if cycle >= 5:
            inputs |= self.memory.step(pins)
        return inputs | {"interrupts": self.engine.pending}

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
        if self.engine.aborts > self.aborts:  # it drops what it has taken
            self.aborts = self.engine.aborts
            self.held, self.taking = None, 0
        return {
            "streams_one_ready": self.taking,
            "streams_two_ready": self.taking,
            "streams_sum_valid": int(self.held is not None),
            "streams_sum_data": self.held or 0,
            "streams_sum_last": 0,
        }

    def state(self) -> dict[str, int]:
        """What the host read at the end."""
        found = [word for _, word in self.host.answers[-len(STATE) :]]
        return dict(zip(STATE, found, strict=True))

    def run(self, cycles: int) -> Recorded:
        self.cycles = cycles
        trace = BENCH.run(self.drive, cycles)
        assert self.rules.faults == []
        return trace


BENCH = BlockBench(
    memory_subsystem,
    "clk rst interrupt",
    s_axi=AxiLite(),
    streams=Bundles({"one": Stream(WIDTH), "two": Stream(WIDTH), "sum": Stream(32)}),
    engines=Bundles({"adder": AxiLite()}),
    interrupts=bits(1),
    m_axi=Axi4(PORT),
    registers=MAP,
    design=DESIGN,
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


def after(before: bytes, one: Walk, two: Walk, result: Walk) -> bytes:
    """Memory after a pass."""
    data = bytearray(before)

    def word(at: int) -> int:
        return int.from_bytes(before[2 * at : 2 * at + 2], "little")

    for a, b, y in zip(one.addresses(), two.addresses(), result.addresses(), strict=True):
        put_words(data, 4 * y, [word(a) + word(b)])
    put_words(data, RECORDS, [one.total, one.total])
    return bytes(data)


def test_every_shell_has_its_control_where_the_processor_writes_an_abort() -> None:
    assert MAP.index("control") == CONTROL_INDEX == CONTROL


CONDUCTS = [Conduct(), Conduct(latency=20, rate=0.7, mixed=True)]


@pytest.mark.parametrize("conduct", CONDUCTS)
def test_a_pass_by_one_ring_of_the_host(conduct: Conduct) -> None:
    system = System([[*a_pass(ONE, TWO, SUM), make.END]], conduct)
    system.run(2500)
    assert system.memory.data == after(system.before, ONE, TWO, SUM)
    assert len(system.ends) == 1
    assert {response for response, _ in system.host.answers} == {0}
    assert system.state() == {"failure": 0, "commands": 11, "waiting": 0, "error_stream": 0}


def test_two_passes_a_jump_and_a_second_list() -> None:
    """The last pass reads what the passes before it wrote."""
    far = LIST + 0x1000
    late = encoded([*a_pass(TWO, ONE, OTHER), make.END])
    first = [*a_pass(ONE, TWO, SUM), make.jump(far, len(late))]
    last = Walk(2 * OTHER.base, 56)
    system = System([first, [*a_pass(last, TWO, SUM), make.END]], Conduct(latency=6))
    put_words(system.memory.data, far, late)
    system.before = bytes(system.memory.data)
    system.run(4000)
    data = after(after(system.before, ONE, TWO, SUM), TWO, ONE, OTHER)
    assert system.memory.data == after(data, last, TWO, SUM)
    assert len(system.ends) == 2
    assert system.state()["failure"] == 0


def test_an_interrupt_in_the_middle_of_a_list() -> None:
    system = System([[make.INTERRUPT, *a_pass(ONE, TWO, SUM), make.END]])
    system.run(2500)
    assert len(system.ends) == 2
    assert system.memory.data == after(system.before, ONE, TWO, SUM)


GOOD = [*a_pass(ONE, TWO, SUM), make.END]


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


@pytest.mark.parametrize(
    ("where", "stream"),
    [
        (range(1200, 1201), "two"),
        (range(4 * SUM.base + 108, 4 * SUM.base + 112), "sum"),
        (range(RECORDS, RECORDS + 1), "records"),
    ],
)
def test_an_error_of_memory_is_told_and_the_next_list_runs(where: range, stream: str) -> None:
    conduct = Conduct(latency=8, errors=[(where, 2)])
    other = [*a_pass(TWO if stream != "two" else ONE, ONE, OTHER), make.END]
    if stream == "records":
        other = [make.INTERRUPT, make.END]
    system = System([GOOD, other], conduct)
    system.run(3000)
    assert len(system.ends) >= 2
    assert system.engine.aborts == 1
    assert system.state()["failure"] == 0, "of the second list"
    untouched(system, SUM, OTHER)


@pytest.mark.parametrize("stream", ["one", "two", "sum"])
def test_the_host_reads_which_stream_failed(stream: str) -> None:
    walk, size = {"one": (ONE, 2), "two": (TWO, 2), "sum": (SUM, 4)}[stream]
    byte = size * list(walk.addresses())[20]
    system = System([GOOD], Conduct(latency=4, errors=[(range(byte, byte + 1), 3)]))
    system.run(2000)
    state = system.state()
    assert state["failure"] == Failure.MEMORY
    assert state["error_stream"] == DESIGN.numbers[stream]
    untouched(system, SUM)


def test_an_error_of_the_list_itself() -> None:
    system = System([GOOD], Conduct(errors=[(range(LIST + 160, LIST + 164), 3)]))
    system.run(1500)
    assert system.state()["failure"] == Failure.MEMORY
    assert system.state()["error_stream"] == len(DESIGN.numbers)


def test_lengths_that_do_not_agree_end_in_time_and_name_the_stream() -> None:
    short = Walk(TWO.base, 40)
    commands = [*a_pass(ONE, TWO, SUM, limit=300), make.END]
    commands[2] = make.walk(DESIGN.numbers["two"], short)
    system = System([commands, GOOD])
    system.run(3500)
    assert system.memory.data == after(system.before, ONE, TWO, SUM), "the second list is right"
    system = System([commands])
    system.run(1500)
    assert system.state()["failure"] == Failure.TIME


@pytest.mark.parametrize("abort_at", range(30, 330, 25))
def test_an_abort_leaves_whole_words_and_the_next_list_runs(abort_at: int) -> None:
    conduct = Conduct(latency=15, rate=0.7, mixed=True)
    system = System([GOOD, [*a_pass(TWO, ONE, OTHER), make.END]], conduct, abort_at, abort_at)
    system.run(3000)
    assert system.state()["failure"] == 0
    untouched(system, SUM, OTHER)
    wanted = after(system.before, TWO, ONE, OTHER)
    begin, end = 4 * OTHER.base, 4 * (OTHER.base + 56)
    assert system.memory.data[begin:end] == wanted[begin:end]
    whole = after(system.before, ONE, TWO, SUM)
    for at in SUM.addresses():
        word = system.memory.data[4 * at : 4 * at + 4]
        assert word in (whole[4 * at : 4 * at + 4], system.before[4 * at : 4 * at + 4])


@pytest.mark.ghdl
def test_memory_subsystem_vhdl(replays: Replays) -> None:
    conduct = Conduct(latency=8, rate=0.8, mixed=True)
    replays(System([GOOD], conduct, 3).run(700))
