"""Complaints of users about published engines, and the answers of the software on a board.

Answers of the hardware are in tests/hdl/memory/test_complaints.py; docs/board.md lists all.
"""

import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from forward_board import (
    LIMIT,
    OnBoard,
    a_pass,
    forward_board,
    golden,
    on_board,
    placed,
    result,
    small_system,
)

from checkout import ROOT
from copier import COPY, DESTINATION, LENGTH, READ, SOURCE, START, arguments, copier, design_of
from merp.cosim.board.buffers import Buffers
from merp.cosim.board.build import Built, built
from merp.cosim.board.dram import Dram
from merp.cosim.board.lists import BoardPass, Moved, placed_list
from merp.cosim.board.moved import moved
from merp.cosim.board.play import play, play_list
from merp.cosim.board.runs import PlacedRun, placed_run
from merp.cosim.board.self_test import POLLED, WIRED, self_test
from merp.cosim.board.simulated import Buffer, SimulatedBoard
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.models.base.errors import BadInput, CheckFailed
from merp.models.base.register_map import STATUS
from merp.models.memory.layout import FIRST_ADDRESS, Array, Layout, Part
from merp.models.memory.params.commands import Operation
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.walk import Walk

BUSY, DONE = (1 << STATUS.index(name) for name in ("busy", "done"))
RNG = np.random.default_rng(6)


@pytest.fixture(scope="module")
def forward() -> OnBoard:
    return forward_board()


@pytest.fixture(scope="module")
def copies() -> Built:
    return built(copier, arguments(design_of(MemoryPort(data_bits=128), 32)), Dram())


def test_every_complaint_has_its_tests() -> None:
    """Those that docs/board.md names."""
    page = (ROOT / "docs" / "board.md").read_text()
    [section] = re.findall(r"## Complaints of users\n(.*?)\n## ", page, re.DOTALL)
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| ")][1:]
    beside = Path(__file__).with_name("test_driver_complaints.py")
    texts = (ROOT / "tests" / "hdl" / "memory" / "test_complaints.py", Path(__file__), beside)
    defined = set(re.findall(r"^def (test_\w+)", "".join(map(Path.read_text, texts)), re.MULTILINE))
    assert len(rows) == 14, "complaint 3 has three rows"
    for _, complaint, _, tests, _ in rows:
        names = set(re.findall(r"`(test_\w+)`", tests))
        assert names, complaint
        assert names <= defined


# 1. A wait without end and cause.


@on_board
def test_a_wait_without_end_and_cause(forward: OnBoard) -> None:
    """An output expects a word too many. One line says how many words of which stream came."""
    board = SimulatedBoard(forward.library)
    words = forward.outputs["m_axis_map"]
    more = {"m_axis_map": words + 1}
    before = board.cycles
    with pytest.raises(CheckFailed) as caught:
        play(board, forward.system, forward.found.run, forward.outputs | more, 3_000)
    said = rf"list: time at command \d+, waiting for forward m_axis_map \({words} of {words + 1} "
    assert re.fullmatch(said + r"elements\)", str(caught.value))
    assert board.cycles - before < 10_000
    run = placed(board, forward)
    play_list(board, run.commands, LIMIT)
    np.testing.assert_array_equal(result(board, run), golden(forward))


@on_board
def test_a_wait_without_end_by_a_wrong_length(forward: OnBoard) -> None:
    """An input is a word short: its stream is done, and the engine still owes the outputs."""
    run = forward.found.run
    name = "s_axis_map"
    short = replace(run, words={**run.words, name: run.words[name][:-1]})
    with pytest.raises(CheckFailed) as caught:
        play(SimulatedBoard(forward.library), forward.system, short, forward.outputs, 3_000)
    [said] = re.findall(r"waiting for (.*)", str(caught.value))
    assert re.fullmatch(r"forward m_axis_map \(\d+ of \d+ elements\)", said)


@pytest.mark.parametrize("element_bits", [8, 16, 64])
def test_a_wait_without_end_by_a_wrong_width(element_bits: int) -> None:
    """An array whose elements are not those of the stream is refused before a start."""
    engine = small_system().engines[0]
    layout = Layout.of([Array.of("maps", (8, 8), element_bits)], FIRST_ADDRESS, 1 << 20)
    said = f"elements of 32 bits: allowed are elements of {element_bits} bits"
    with pytest.raises(BadInput, match=rf"^engine: s_axis_map: {said}, as in maps$"):
        moved(engine, layout, "s_axis_map", Part("maps", Walk(0, 64)))


# 5. Transfers of no word.


def test_a_transfer_of_no_word_is_not_started(small: PlacedRun) -> None:
    """A stream without words has no walk and no start, and nobody waits for it."""
    numbers = {stream: of for stream, (of, _) in small.commands.system.engines[0].movers.items()}
    bias = 1 << numbers["s_axis_bias"]
    for command in small.commands.commands:
        if command.operation in (Operation.START, Operation.WAIT):
            assert not command.words[0] & bias
        if command.operation == Operation.WALK:
            assert command.place != numbers["s_axis_bias"]


@pytest.fixture
def small() -> PlacedRun:
    """A pass without biases in a memory that is nowhere."""
    _, found = a_pass("fp")
    words = {**found.run.words, "s_axis_bias": found.run.words["s_axis_bias"][:0]}
    system, memory = small_system(), Buffers(1 << 20)
    outputs = {pin.name: 8 for pin in system.engines[0].ports.outputs}
    run = replace(found.run, words=words)
    return placed_run(
        system, system.engines[0], run, outputs, lambda size: memory.alloc(size).address, LIMIT
    )


# 6. Stale caches.


@on_board
def test_stale_caches(copies: Built) -> None:
    """Bytes cross between host and memory by a call, and by no other way."""
    board = SimulatedBoard(copies)
    data = RNG.integers(1, 1 << 32, 64, np.uint32)
    kept = data.copy()
    source, target = board.alloc(data.nbytes), board.alloc(data.nbytes)
    board.to_device(source, data)
    data[:] = 0  # memory does not see it
    early = board.from_device(target, np.uint32, 64)
    for offset, value in (
        (SOURCE, source.address), (DESTINATION, target.address), (LENGTH, 63), (START, COPY)
    ):  # fmt: skip
        board.write32(offset, value)
    board.wait(LIMIT)
    assert not early.any(), "a copy from before the run"
    np.testing.assert_array_equal(board.from_device(target, np.uint32, 64), kept)
    assert {each.name for each in fields(Buffer)} == {"address", "size"}, "no view of memory"


def test_stale_caches_in_examples() -> None:
    """Each program of the pages copies in before its start, and out behind its wait."""
    calls = ("alloc", "to_device", "write32", "wait", "from_device")
    pages = [page for top in ("docs", "examples") for page in (ROOT / top).rglob("*.md")]
    programs = [
        code
        for page in [*pages, ROOT / "README.md"]
        for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
        if "Board(" in code
    ]
    assert programs
    for code in programs:
        found = [name for name in re.findall(r"board\.(\w+)\(", code) if name in calls]
        assert list(dict.fromkeys(found)) == list(calls), code
        assert found.index("from_device") > max(
            at for at, name in enumerate(found) if name in ("to_device", "write32", "wait")
        )


# 7. Contiguous memory runs out.


def test_contiguous_memory_runs_out() -> None:
    """The memory of a layout is known before any of it is taken, and a refusal takes nothing."""
    arrays = [Array.of(f"array{at}", (at + 1, 1000), 16) for at in range(20)]
    layout = Layout.of(arrays, FIRST_ADDRESS, 1 << 30)
    size = FIRST_ADDRESS + layout.used
    exact, small = Buffers(size), Buffers(size - 1)
    places = {each.name: exact.alloc(each.size).address for each in arrays}
    assert places == layout.addresses
    for each in arrays[:-1]:
        small.alloc(each.size)
    with pytest.raises(BadInput, match=rf"^alloc: size 40000: memory has 39999 of {size - 1} byte"):
        small.alloc(arrays[-1].size)
    assert small.alloc(39999).address == layout.addresses["array19"], "nothing was taken"
    with pytest.raises(ValueError, match=rf"^{layout.used} bytes of arrays: allowed are the memor"):
        Layout.of(arrays, FIRST_ADDRESS, size - 64)


@on_board
def test_contiguous_memory_does_not_break_into_pieces(copies: Built) -> None:
    """After a thousand small buffers, one buffer takes all of memory, to its last byte."""
    board = SimulatedBoard(copies)
    for _ in range(1000):
        board.alloc(100)
    board.free_all()
    whole = board.alloc(board.end - FIRST_ADDRESS)
    with pytest.raises(BadInput, match=rf"^alloc: size 1: memory has 0 of {board.end} bytes left"):
        board.alloc(1)
    end = whole.address + whole.size
    board.to_device(Buffer(end - 4, 4), np.array([77], np.uint32))
    for offset, value in ((SOURCE, end - 4), (DESTINATION, 4096), (LENGTH, 0), (START, COPY)):
        board.write32(offset, value)
    board.wait(LIMIT)
    assert board.from_device(whole, np.uint32, 1) == [77]


# 8. Silent limits of length registers.


@pytest.mark.parametrize(
    ("walk", "message"),
    [
        (Walk(0, (1 << 30) + 1), "words must be a whole number from 1 to 1073741824, not "),
        (Walk((1 << 30) - 1, 2), "the words of a walk must have addresses from 0 to 1073741823, "),
        (Walk(0, 0), "words must be a whole number from 1 to 1073741824, not 0"),
    ],
)
def test_silent_limits_of_length_registers(walk: Walk, message: str) -> None:
    """A list with a walk that a mover cannot make is refused, with engine, stream and field."""
    system, memory = small_system(), Buffers(1 << 20)
    each = BoardPass(system.engines[0], {}, {"s_axis_map": Moved(walk, walk.total)})
    with pytest.raises(ValueError, match=rf"^engine: s_axis_map: {message}"):
        placed_list(system, [each], lambda size: memory.alloc(size).address, LIMIT)


# 11. An interrupt that is not wired.


class Unwired(SimulatedBoard):
    """A board whose interrupt never rises: its enable cannot be set."""

    enable = -1

    def write32(self, offset: int, value: int) -> None:
        super().write32(offset, 0 if offset == self.enable else value)


class Frozen(SimulatedBoard):
    """A board whose lists never start."""

    control = -1

    def write32(self, offset: int, value: int) -> None:
        super().write32(offset, 0 if offset == self.control else value)


@on_board
def test_an_interrupt_that_is_not_wired(forward: OnBoard) -> None:
    """A host that reads the status register needs no interrupt."""
    board = SimulatedBoard(forward.library)
    run, host = placed(board, forward), forward.system.host
    for offset, value in run.commands.ring:
        board.write32(offset, 0 if offset == host["interrupt_enable"].offset else value)
    for _ in range(LIMIT):
        status = board.read32(host["status"].offset)
        with pytest.raises(TimeoutError):
            board.wait(0)
        if status & DONE and not status & BUSY:
            break
    assert status & DONE
    np.testing.assert_array_equal(result(board, run), golden(forward))


@on_board
def test_an_interrupt_of_an_engine_that_is_not_wired(forward: OnBoard) -> None:
    """All words are there, and the engine's interrupt is off. The message names the engine."""
    board = SimulatedBoard(forward.library)
    run = placed(board, forward).commands
    at = forward.system.engines[0].registers.index("interrupt")
    off = [
        replace(each, words=(1, 0)) if (each.place, each.words) == (at, (1, 1)) else each
        for each in run.commands
    ]
    assert off != run.commands
    wrong = replace(run, commands=off)
    board.to_device(Buffer(run.address, wrong.words.nbytes), wrong.words)
    with pytest.raises(CheckFailed, match=r"^list: time at .*, waiting for the interrupt of forw"):
        play_list(board, wrong, LIMIT)


@on_board
def test_a_self_test_says_whether_the_interrupt_is_wired(forward: OnBoard) -> None:
    host = forward.system.host
    board = SimulatedBoard(forward.library)
    assert [self_test(board, forward.system) for _ in range(2)] == [WIRED] * 2
    unwired = Unwired(forward.library)
    unwired.enable = host["interrupt_enable"].offset
    assert self_test(unwired, forward.system) == POLLED
    frozen = Frozen(forward.library)
    frozen.control = host["control"].offset
    with pytest.raises(CheckFailed, match=r"^self-test: a list did not end: status is 0x0$"):
        self_test(frozen, forward.system)
    assert "\n" not in WIRED + POLLED


# 12. Simulations that ignore the time of memory.


@on_board
def test_simulations_that_ignore_memory_time(copies: Built) -> None:
    """A read of an open row is faster than one of another row, and refreshes delay some reads."""
    board = SimulatedBoard(copies)
    memory = copies.memory
    same, other = [], []
    for at in range(100):
        same.append(_latency(board, 4096 + at % 8 * memory.beat_bytes))
    for at in range(100):
        other.append(_latency(board, 4096 + at * memory.row_bytes * memory.banks))
    typical = sorted(same)[50], sorted(other)[50]
    assert 10 < typical[0] < typical[1] - 4
    assert max(same) > typical[0] + 10, "a refresh"
    assert sum(latency != typical[0] for latency in same) < 20


def _latency(board: SimulatedBoard, address: int) -> int:
    """Cycles of a read of one word."""
    board.clear_bus()
    for offset, value in ((SOURCE, address), (LENGTH, 0), (START, READ)):
        board.write32(offset, value)
    board.wait(LIMIT)
    return board.bus.read.latency.total


@pytest.mark.full
@on_board
def test_a_pass_takes_the_time_of_its_memory(forward: OnBoard) -> None:
    """The same pass takes fewer cycles if its words are there at once."""
    board = SimulatedBoard(forward.library)
    played, _ = play(board, forward.system, forward.found.run, forward.outputs, LIMIT)
    top, _ = a_pass("fp")
    (alone,) = run_job(Job(top, [forward.found.run]), "myhdl")
    assert alone.outcome.cycles < played.passes[0].cycles < played.cycles


@pytest.mark.full
@on_board
def test_no_stream_of_reads_reaches_the_peak() -> None:
    """LiteDRAM gives 88.9 % of its peak, at any length of bursts."""
    design = design_of(MemoryPort(data_bits=128), 128)
    board = SimulatedBoard(built(copier, arguments(design), Dram()))
    for offset, value in ((SOURCE, 4096), (LENGTH, 32_767), (START, READ)):
        board.write32(offset, value)
    board.wait(10 * LIMIT)
    assert 0.86 < board.bus.read.beats / board.bus.busy < 0.91
