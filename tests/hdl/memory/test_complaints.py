"""Complaints of users about published engines, and the answers of the hardware between engines and
memory. Answers of the software are in tests/cosim/test_complaints.py; docs/board.md lists all.
"""

from itertools import pairwise

import pytest
from list_system import (
    DESIGN,
    GOOD,
    LIST,
    MAP,
    ONE,
    OTHER,
    PORT,
    RECORDS,
    SIZE,
    SUM,
    TWO,
    WORDS,
    System,
    a_pass,
    after,
    design_of,
    untouched,
)
from movers import config_inputs

from block_bench import BlockBench, Sample
from merp.hdl.memory.processor_ports import WalkWrite
from merp.hdl.memory.requests import WalkConfig
from merp.hdl.memory.walk_registers import walk_registers
from merp.models.base.register_map import STATUS, Register
from merp.models.memory import commands as make
from merp.models.memory.commands import MASK, Command
from merp.models.memory.params.commands import WALK_WORDS, Failure, Operation
from merp.models.memory.params.memory_port import BOUNDARY, MemoryPort
from merp.models.memory.walk import Dimension, Walk
from merp.testbenches.memory.axi_memory import Conduct
from merp.testbenches.memory.read_memory import DECERR, SLVERR

LATE = Conduct(latency=20, rate=0.8, mixed=True)
LONG, WIDE = (design_of(MemoryPort(data_bits=bits, burst_beats=256)) for bits in (64, 128))
"""Their longest burst has 256 beats; with beats of 128 bits, it fills 4 KiB."""

NUMBERS = DESIGN.numbers
MOVER = dict(DESIGN.readers)["one"]
ONE_ID = NUMBERS["one"]
"""Streams that are read have their number as ID."""

FOREVER = MASK
"""The longest limit of a wait."""


def sums(system: System, passes: list[tuple[Walk, Walk, Walk]]) -> bytes:
    """Memory after passes."""
    data = system.before
    for walks in passes:
        data = after(data, *walks)
    return data


# 1. A wait without end and cause.


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("stream", "wrong", "waiting"),
    [
        ("sum", Walk(SUM.base, 4, (Dimension(15, 9),)), ["sum"]),
        ("two", Walk(TWO.base, 40), ["one", "sum"]),
        ("one", Walk(ONE.base, 70), ["one"]),
    ],
)
def test_a_wait_without_end_and_cause(stream: str, wrong: Walk, waiting: list[str]) -> None:
    """A length is wrong. The limit ends the wait, and status names who still waits for a word."""
    limit = 300
    commands = [*a_pass(ONE, TWO, SUM, limit), make.END]
    [place] = [
        at for at, each in enumerate(commands)
        if (each.operation, each.place) == (Operation.WALK, NUMBERS[stream])
    ]  # fmt: skip
    commands[place] = make.walk(NUMBERS[stream], wrong)
    system = System([commands, GOOD])
    system.run(1000)
    first, second = system.states
    mask = sum(1 << NUMBERS[name] for name in waiting)
    wait = next(at for at, each in enumerate(commands, 1) if each.operation == Operation.WAIT)
    assert (first["failure"], first["commands"], first["waiting"]) == (Failure.TIME, wait, mask)
    assert second["failure"] == Failure.NONE
    assert system.memory.data == after(system.before, ONE, TWO, SUM)


def test_a_wait_without_end_by_a_wrong_tlast() -> None:
    """A mover counts words. It sends TLAST with the last one, and needs none from an engine."""
    system = System([GOOD], last=1)
    trace = system.run(400)
    assert system.state()["failure"] == Failure.NONE
    assert system.memory.data == after(system.before, ONE, TWO, SUM)
    assert [last for _, last in trace.words("streams_one")] == [0] * 55 + [1]


# 2. Only a new configuration of the device brings it back.


def test_only_reconfiguration_brings_it_back() -> None:
    """A pass on a slow memory, one that would wait for 2^32 cycles, a list that jumps to itself.

    An abort ends each, and memory then owes nothing. No reset follows; the next list is right.
    """
    endless = [*a_pass(ONE, Walk(TWO.base, 40), SUM, FOREVER), make.END]
    there = LIST + 4 * len(make.encoded([*GOOD, *endless]))
    lists = [GOOD, endless, [make.jump(there, 4)], GOOD]
    aborts = [250, 1000, 1350]
    system = System(lists, Conduct(latency=90, mixed=True), abort_at=aborts)
    trace = system.run(2400)
    failures = [state["failure"] for state in system.states]
    assert failures == [Failure.ABORTED] * 3 + [Failure.NONE]
    assert all(end - abort < 250 for end, abort in zip(system.ends, aborts, strict=False))
    assert system.aborted[0] > 3, "bursts on their way"
    assert system.owed == [0] * 4
    assert system.engine.aborts == 3
    assert not any(trace.column("rst")[5:])
    assert system.memory.data == after(system.before, ONE, TWO, SUM)


# 3. Deadlocks.


def test_deadlock_by_overcommit() -> None:
    """A stream that nobody reads has all its beats on time, and the list goes on beside it."""
    beside = [
        make.walk(NUMBERS["one"], Walk(0, 4000)),
        make.walk(NUMBERS["records"], Walk(RECORDS // 4, 2)),
        make.start([NUMBERS["one"], NUMBERS["records"]]),
        *make.record(WORDS, 2),
        make.wait([NUMBERS["records"]], [], 1000),
        make.END,
    ]
    system = System([beside, GOOD], LATE)
    trace = system.run(700)
    assert [state["failure"] for state in system.states] == [Failure.NONE] * 2
    assert system.owed == [0, 0]
    channels = trace.columns("m_axi_rready", "m_axi_bready")[6:]
    assert set(channels) == {(1, 1)}, "an answer never waits"
    requests = trace.columns("m_axi_arvalid", "m_axi_arready", "m_axi_arid", "m_axi_arlen")
    beats = [row[3] + 1 for row in requests[6 : system.ends[0]] if row[:3] == (1, 1, ONE_ID)]
    assert sum(beats) == MOVER.places, "a place for each"
    assert system.memory.data == after(system.before, ONE, TWO, SUM)


def test_deadlock_by_misalignment() -> None:
    """Words that begin and end in every lane of a beat, within a beat and across its border."""
    passes = []
    for first in range(4):
        for words in range(2, 6):
            at = 64 * len(passes)
            walks = [Walk(base + at + first, words) for base in (0, 0x1000, 0x1000)]
            passes.append((walks[0], walks[1], Walk(0x1800 + at // 4 + first, words)))
    commands = [command for walks in passes for command in a_pass(*walks)]
    system = System([[*commands, make.END]])
    system.run(2700)
    assert system.state()["failure"] == Failure.NONE
    assert system.memory.data == sums(system, passes)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("broken", "address", "response"),
    [
        (range(0x1000), {"one": 2 * ONE.base, "two": 2 * TWO.base}, SLVERR),
        (range(0x4000, 0x5000), {"sum": 4 * SUM.base}, DECERR),
        (range(RECORDS, SIZE), {"records": RECORDS}, SLVERR),
    ],
)
def test_deadlock_by_error_responses(broken: range, address: dict[str, int], response: int) -> None:
    """Every burst of a stream fails. The list ends, names the burst, and memory owes nothing."""
    conduct = Conduct(latency=20, rate=0.8, mixed=True, errors=[(broken, response)])
    system = System([GOOD, [make.INTERRUPT, make.END]], conduct)
    system.run(700)
    first, *_, last = system.states
    assert first["failure"] == Failure.MEMORY
    begin = address[list(NUMBERS)[first["error_stream"]]]
    assert first["error_address"] == begin // PORT.beat_bytes * PORT.beat_bytes
    assert (system.owed[0], system.engine.aborts) == (0, 1)
    untouched(system, SUM)
    assert all(system.memory.data[at] == system.before[at] for at in broken)
    assert last["failure"] == Failure.NONE, "of the next list"


# 4. 4 KiB, exact boundaries, 256 beats.


def test_a_burst_over_4_kib() -> None:
    """Runs across multiples of 4 KiB, up to them, and from them on."""
    across, up_to, from_on = -3, -8, 0

    def words(page: int, place: int, word: int) -> Walk:
        return Walk(page * BOUNDARY // word + place, 8)

    places = (across, up_to, from_on), (up_to, from_on, across), (from_on, across, up_to)
    passes = [
        (words(1, one, 2), words(2, two, 2), words(4 + at, result, 4))
        for at, (one, two, result) in enumerate(places)
    ]
    commands = [command for walks in passes for command in a_pass(*walks)]
    system = System([[*commands, make.END]], LATE, design=WIDE)
    system.run(800)
    assert system.state()["failure"] == Failure.NONE
    assert system.memory.data == sums(system, passes)
    bursts = [each for each in system.memory.bursts if each[0] < LIST]
    assert all(at // BOUNDARY == (at + size - 1) // BOUNDARY for at, size, _ in bursts)
    cut = {(BOUNDARY - 16, "read"), (BOUNDARY, "read"), (5 * BOUNDARY, "write")}
    assert cut <= {(at, kind) for at, _, kind in bursts}
    with pytest.raises(ValueError, match="burst_beats must be a whole number from 2 to 64, not "):
        MemoryPort(data_bits=512, burst_beats=128)


def test_hangs_at_256_beats() -> None:
    """Bursts of 255, of 256 and of one beat, one behind the other, in both directions."""
    one, two, result = Walk(0x1000 // 2, 1024), Walk(0x2008 // 2, 1024), Walk(0x4000 // 4, 1024)
    system = System([[*a_pass(one, two, result), make.END]], LATE, design=LONG)
    trace = system.run(3000)
    assert system.state()["failure"] == Failure.NONE
    assert system.memory.data == after(system.before, one, two, result)
    data = [(at, size // 8, kind) for at, size, kind in system.memory.bursts if at < LIST]
    assert sorted(data) == [
        (0x1000, 256, "read"), (0x2008, 255, "read"), (0x2800, 1, "read"), (0x4000, 256, "write"),
        (0x4800, 256, "write"),
    ]  # fmt: skip
    assert max(trace.column("m_axi_arlen")) == max(trace.column("m_axi_awlen")) == 255


# 5. Transfers of zero or one word lose their response.


def test_a_transfer_of_one_word_loses_its_response() -> None:
    """Every walk has one word, in each lane of a beat. Every response arrives."""
    passes = [(Walk(at, 1), Walk(600 + at, 1), Walk(4097 + at, 1)) for at in range(4)]
    lists = [[*a_pass(*walks), make.END] for walks in passes]
    system = System(lists, LATE)
    system.run(1200)
    assert [state["failure"] for state in system.states] == [Failure.NONE] * 4
    assert system.owed == [0] * 4
    assert system.memory.data == sums(system, passes)
    data = [size for at, size, _ in system.memory.bursts if at < LIST]
    assert data == [PORT.beat_bytes] * 12


def test_a_transfer_of_no_word_cannot_be_expressed() -> None:
    """A walk of zeros has one word, and a list without words ends at once without a burst."""
    once = Walk(0, 1), Walk(600, 1), Walk(4097, 1)
    commands = a_pass(*once)
    zeros = Command(Operation.WALK, (0,) * WALK_WORDS, NUMBERS["one"])
    assert zeros in commands
    system = System([[], [*commands, make.END]])
    system.run(400)
    assert [state["failure"] for state in system.states] == [Failure.SHORT, Failure.NONE]
    assert system.ends[0] < 100
    assert system.memory.data == after(system.before, *once)
    first = min(at for at, *_ in system.memory.bursts if at >= LIST)
    assert (system.memory.bursts[0][0], first) == (LIST, LIST)
    with pytest.raises(ValueError, match="words must be a whole number from 1 to 2147483648, not "):
        Walk(0, 0).check(MOVER)
    with pytest.raises(ValueError, match="count must be a whole number from 1 to 65536, not 0"):
        Walk(0, 1, (Dimension(0, 1),)).check(MOVER)


# 8. Silent limits of length registers.


TOP = 1 << MOVER.address_bits
EVERY = 1 << MOVER.count_bits


@pytest.mark.parametrize(
    ("largest", "beyond", "message"),
    [
        (Walk(0, TOP), Walk(0, TOP + 1), f"words must be a whole number from 1 to {TOP}, not "),
        (Walk(TOP - 1, 1), Walk(TOP, 1), f"base must be a whole number from 0 to {TOP - 1}, not "),
        (Walk(TOP - 2, 2), Walk(TOP - 1, 2), f"must have addresses from 0 to {TOP - 1}, not "),
        (
            Walk(0, 1, (Dimension(EVERY, 1),) * 4),
            Walk(0, 1, (Dimension(), Dimension(EVERY + 1, 1))),
            f"count must be a whole number from 1 to {EVERY}, not ",
        ),
        (
            Walk(TOP - 1, 1, (Dimension(2, 1 - TOP),)),
            Walk(0, 1, (Dimension(2, TOP),)),
            f"stride must be a whole number from {1 - TOP} to {TOP - 1}, not ",
        ),
    ],
)
def test_silent_limits_of_length_registers(largest: Walk, beyond: Walk, message: str) -> None:
    """The largest value of each field fits its register. A larger one is refused by name."""
    largest.check(MOVER)
    bench = BlockBench(
        walk_registers, "clk", write=WalkWrite(DESIGN.processor), config=WalkConfig(MOVER), stream=0
    )
    words = make.walk(0, largest).words
    rows = [
        {"write_enable": 1, "write_stream": 0, "write_index": index, "write_data": word}
        for index, word in enumerate(words)
    ]
    trace = bench.run([*rows, {"write_enable": 0}])
    wanted = config_inputs(largest, MOVER)
    assert {name: trace.column(name)[-1] for name in wanted} == wanted
    with pytest.raises(ValueError, match=message):
        beyond.check(MOVER)


def test_silent_limits_of_a_wait() -> None:
    assert make.wait([0], [], FOREVER).encoded()[-1] == FOREVER
    with pytest.raises(ValueError, match=r"^limit must be 0 to 4294967295, not 4294967296$"):
        make.wait([0], [], FOREVER + 1)


# 10. Drivers with magic offsets.


class Reading(System):
    """A host that reads every register of the table, and the offset behind the last one."""

    def attend(self, cycle: int, pins: Sample) -> None:
        if cycle == 10:
            for register in (*MAP.registers, BEHIND):
                self.host.read(register.offset)


BEHIND = Register("behind", 4 * len(MAP.registers), "ro", 0, 0, 0, "no register")


def test_drivers_with_magic_offsets() -> None:
    """The hardware has the registers of the table at their offsets, and no other ones."""
    system = Reading([])
    system.run(400)
    [_, *answers] = system.host.answers  # the first one is of interrupt_enable
    wanted = [(0, each.reset | (each.name == "interrupt_enable")) for each in MAP.registers]
    assert answers == [*wanted, (SLVERR, 0)]
    assert [b.offset - a.offset for a, b in pairwise(MAP.registers)] == [4] * (len(wanted) - 1)


# 11. An interrupt that is not wired.

BUSY, DONE = (1 << STATUS.index(name) for name in ("busy", "done"))


class Polling(System):
    """A host without an interrupt. It reads the status until the list is done."""

    asked = False

    def attend(self, cycle: int, pins: Sample) -> None:
        if cycle == 10:
            self.ring()
            self.host.read(MAP["status"].offset)
            self.asked = True
        elif self.asked and self.host.idle:
            _, word = self.host.answers[-1]
            self.asked = bool(word & BUSY) or not word & DONE
            if self.asked:
                self.host.read(MAP["status"].offset)
            else:
                self.ended(cycle)
                if self.lists:
                    self.ring()
                    self.host.read(MAP["status"].offset)
                    self.asked = True


def test_an_interrupt_that_is_not_wired() -> None:
    """Status says when each list is done, also a list with an interrupt in its middle."""
    system = Polling([[make.INTERRUPT, *GOOD], [*a_pass(TWO, ONE, OTHER), make.END]], enable=0)
    trace = system.run(800)
    assert [state["failure"] for state in system.states] == [Failure.NONE] * 2
    assert set(trace.column("interrupt")) == {0}
    assert system.memory.data == sums(system, [(ONE, TWO, SUM), (TWO, ONE, OTHER)])


class Deaf(System):
    """The line of the engine's interrupt is not connected."""

    def drive(self, cycle: int, seen: Sample) -> dict[str, int]:
        return {**super().drive(cycle, seen), "interrupts": 0}


def test_an_interrupt_of_an_engine_that_is_not_wired() -> None:
    """All words are in memory. The wait ends, and it waits for no stream, so for the engine."""
    system = Deaf([[*a_pass(ONE, TWO, SUM, 300), make.END]])
    system.run(700)
    state = system.state()
    assert (state["failure"], state["waiting"]) == (Failure.TIME, 0)
    wanted = after(system.before, ONE, TWO, SUM)
    assert system.memory.data[:RECORDS] == wanted[:RECORDS]
