"""A host, an engine and memory around the subsystem: passes, records, errors, aborts, the VHDL."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from list_memory import put_words
from list_system import (
    CONTROL,
    DESIGN,
    GOOD,
    LIST,
    MAP,
    ONE,
    OTHER,
    RECORDS,
    STATE,
    SUM,
    TWO,
    System,
    a_pass,
    after,
    bench,
    untouched,
)

from block_bench import Replays, Sample
from marks import few
from merp.hdl.memory.register_commands import CONTROL_INDEX
from merp.models.memory import commands as make
from merp.models.memory.commands import encoded
from merp.models.memory.params.commands import Failure
from merp.models.memory.params.subsystem import Loader
from merp.models.memory.walk import Walk
from merp.testbenches.memory.axi_memory import Conduct
from merp.testbenches.memory.icape2 import Icape2


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
    assert system.state() == dict.fromkeys(STATE, 0) | {"commands": 11}


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


def test_the_host_loads_the_bitstream_that_a_register_names() -> None:
    """Zynq and ECP5 have no ICAPE2. The next list forgets the load."""
    design = replace(DESIGN, loader=Loader.HOST)
    lists = [[*a_pass(ONE, TWO, SUM), make.load(0x00420000)], [make.END]]
    system = System(lists, CONDUCTS[1], design=design)
    system.run(3000)
    assert system.memory.data == after(system.before, ONE, TWO, SUM)
    found = [(state["failure"], state["load"], state["bitstream"]) for state in system.states]
    assert found == [(0, 1, 0x00420000), (0, 0, 0x00420000)]
    assert system.owed == [0, 0]


def test_no_list_starts_while_a_load_is_sent() -> None:
    design = replace(DESIGN, loader=Loader.ICAPE2)
    system, icap = System([[make.load(5)]], design=design), Icape2()
    rung: list[int] = []

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        if cycle:
            icap.sample(*(seen[f"icap_{each}"] for each in ("clk", "csib", "rdwrb", "i")))
            if not seen["icap_rdwrb"] and not rung:
                rung.append(cycle)
                system.host.write(MAP["control"].offset, 1)
        return system.drive(cycle, seen)

    bench(design).run(drive, 300)
    assert rung
    assert icap.loads == [5]
    assert [(state["load"], state["bitstream"]) for state in system.states] == [(1, 5)]


def test_hardware_without_a_loader_refuses_a_load() -> None:
    system = System([[make.load(1), make.END]])
    system.run(400)
    assert system.state()["failure"] == Failure.ILLEGAL
    assert "status_load" not in {each.name for each in MAP.registers}


def test_an_interrupt_in_the_middle_of_a_list() -> None:
    system = System([[make.INTERRUPT, *a_pass(ONE, TWO, SUM), make.END]])
    system.run(2500)
    assert len(system.ends) == 2
    assert system.memory.data == after(system.before, ONE, TWO, SUM)


@pytest.mark.sample(1)
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
    assert [state["failure"] for state in system.states] == [Failure.TIME, Failure.NONE]


@pytest.mark.sample(2)
@pytest.mark.parametrize("abort_at", few(range(30, 330, 25), 55, 130, 230, 305))
def test_an_abort_leaves_whole_words_and_the_next_list_runs(abort_at: int) -> None:
    conduct = Conduct(latency=15, rate=0.7, mixed=True)
    system = System([GOOD, [*a_pass(TWO, ONE, OTHER), make.END]], conduct, abort_at, [abort_at])
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
