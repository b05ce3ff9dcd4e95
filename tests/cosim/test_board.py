"""A simulated board: registers, interrupt, memory through the back door, counters, limits."""

import resource
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from random import Random

import numpy as np
import pytest

from copier import (
    COPY,
    DESTINATION,
    INTERRUPT,
    LENGTH,
    READ,
    SOURCE,
    START,
    WRITE,
    arguments,
    copier,
    design_of,
)
from marks import in_full
from merp.cosim.board.build import Built, built
from merp.cosim.board.bus import Direction
from merp.cosim.board.dram import Dram, generated
from merp.cosim.board.simulated import Buffer, SimulatedBoard
from merp.cosim.board.wrapper import wired
from merp.hdl.conversion.convert import convert
from merp.hdl.conversion.exports import Port
from merp.models.base.errors import BadInput, CheckFailed
from merp.models.memory.bursts import bursts_of
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.walk import Walk
from needed_tools import needs

pytestmark = [pytest.mark.verilator, needs("litedram")]
WORD = 4
"""Bytes of the copier's words."""

SIZE = 64 * 1024
ENOUGH = 100_000
RNG = np.random.default_rng(5)


def design(dram: Dram):
    return design_of(MemoryPort(data_bits=dram.port_bits), 8 * WORD)


def build(dram: Dram) -> Built:
    return built(copier, arguments(design(dram)), dram)


@pytest.fixture(scope="module")
def narrow() -> Built:
    return build(Dram())


@pytest.fixture
def board(narrow: Built) -> SimulatedBoard:
    return SimulatedBoard(narrow)


def begin(
    board: SimulatedBoard, kind: int, source: int = 0, destination: int = 0, words: int = 1
) -> None:
    for offset, value in ((SOURCE, source), (DESTINATION, destination), (LENGTH, words - 1)):
        board.write32(offset, value)
    board.write32(START, kind)


def run(board: SimulatedBoard, *args: int, **named: int) -> None:
    begin(board, *args, **named)
    board.wait(ENOUGH)


def check_direction(found: Direction, address: int, words: int, dram: Dram) -> None:
    """The counters of a direction against the golden model."""
    [(_, mover)] = design(dram).readers
    bursts = list(bursts_of(Walk(address // WORD, words).runs(), mover))
    assert found.bursts == Counter(burst.beats for burst in bursts)
    assert found.beats == sum(burst.beats for burst in bursts)
    latency = found.latency
    assert (latency.answered, found.waiting) == (len(bursts), 0)
    assert 5 < latency.least <= latency.mean <= latency.most < 400
    assert found.beats < found.busy
    assert found.row_hits + found.row_misses == found.beats
    assert sum(found.windows) == found.bytes


def test_copied_bytes_are_equal_and_the_bus_carries_the_golden_bursts(
    board: SimulatedBoard,
) -> None:
    data = RNG.integers(0, 256, (SIZE // 16, 4, 4), np.uint8)
    source, target = board.alloc(SIZE, 4096), board.alloc(SIZE + 32, 4096)
    board.to_device(source, data)
    board.to_device(target, np.zeros(SIZE + 32, np.uint8))
    board.clear_bus()
    before = board.cycles
    run(board, COPY, source.address, target.address + 16, SIZE // WORD)
    found = board.from_device(target, np.uint8, SIZE + 32)
    assert found[16:-16].tobytes() == data.tobytes()
    assert not found[:16].any()
    assert not found[-16:].any()
    bus, taken = board.bus, board.cycles - before
    check_direction(bus.read, source.address, SIZE // WORD, Dram())
    check_direction(bus.write, target.address + 16, SIZE // WORD, Dram())
    assert (bus.read.bytes, bus.write.bytes) == (16 * bus.read.beats, SIZE)
    assert max(bus.read.busy, bus.write.busy) <= bus.busy <= bus.cycles == taken
    assert SIZE // WORD < taken < 1.1 * SIZE // WORD  # a word per cycle
    assert bus.outside == 0


def test_small_pieces_at_any_word(board: SimulatedBoard) -> None:
    rng = Random(3)
    source, target = board.alloc(8192, 4096), board.alloc(8192, 4096)
    data = RNG.integers(0, 1 << 32, 2048, np.uint32)
    wanted = RNG.integers(0, 1 << 32, 2048, np.uint32)
    board.to_device(source, data)
    board.to_device(target, wanted)
    for words in (1, 1, 2, 3, 4, 5, 7, 8, 9, 64, 255, 256, 257, *(rng.randint(1, 600),) * 4):
        start, there = rng.randrange(2048 - words), rng.randrange(2048 - words)
        board.clear_bus()
        run(board, COPY, source.address + WORD * start, target.address + WORD * there, words)
        wanted[there : there + words] = data[start : start + words]
        assert np.array_equal(board.from_device(target, np.uint32, 2048), wanted)
        bus = board.bus
        check_direction(bus.read, source.address + WORD * start, words, Dram())
        check_direction(bus.write, target.address + WORD * there, words, Dram())
        assert bus.write.bytes == WORD * words


@pytest.mark.parametrize("data_bits", [16, *in_full(8, 32, 64)])
def test_an_address_of_the_bus_is_the_same_byte_through_the_back_door(data_bits: int) -> None:
    """Rows, banks and columns, up to the last byte of memory."""
    library = build(Dram(data_bits=data_bits))
    board, size = SimulatedBoard(library), library.memory.size
    words = 2 * size // library.memory.rows // WORD  # two rows of every bank
    run(board, WRITE, destination=0, words=words)
    found = board.from_device(Buffer(0, size), np.uint32, words)
    assert np.array_equal(found, np.arange(words))
    places = [1 << bit for bit in range(14, size.bit_length() - 1)] + [size - 20]
    for place in places:
        run(board, WRITE, destination=place, words=5)
        found = board.from_device(Buffer(place, 20), np.uint32, 5)
        assert np.array_equal(found, np.arange(5)), hex(place)
        board.to_device(Buffer(place, 20), found + place)
    for place in places:
        run(board, COPY, place, 4096, 5)
        found = board.from_device(Buffer(4096, 20), np.uint32, 5)
        assert np.array_equal(found, np.arange(5) + place), hex(place)


def test_a_burst_is_in_memory_when_memory_has_answered(board: SimulatedBoard) -> None:
    target = board.alloc(SIZE, 4096)
    board.to_device(target, np.zeros(SIZE, np.uint8))
    words = 64 * 16 // WORD  # of a burst
    begin(board, WRITE, destination=target.address, words=8 * words)
    answered = 0
    while answered < 8:
        with suppress(TimeoutError):
            board.wait(1)
        if board.bus.write.latency.answered > answered:
            answered += 1
            found = board.from_device(target, np.uint32, answered * words)
            assert np.array_equal(found, np.arange(answered * words))


def test_two_boards_at_the_same_time_have_nothing_in_common(narrow: Built) -> None:
    boards = [SimulatedBoard(narrow) for _ in range(2)]
    data = RNG.integers(0, 1 << 32, (2, 4096), np.uint32)
    for board, own in zip(boards, data, strict=True):
        board.to_device(board.alloc(own.nbytes), own)
        begin(board, COPY, 4096, SIZE, 4096)
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda board: board.wait(ENOUGH), boards))
    for board, own in zip(boards, data, strict=True):
        assert np.array_equal(board.from_device(Buffer(SIZE, SIZE), np.uint32, 4096), own)
    one, other = boards
    assert (one.cycles, one.bus) == (other.cycles, other.bus)
    one.read32(START)
    assert one.cycles > other.cycles


def test_a_wait_has_a_limit_says_what_it_waits_for_and_can_go_on(board: SimulatedBoard) -> None:
    with pytest.raises(TimeoutError, match=r"^wait: no interrupt for 100 cycles \(cycle \d+\); "):
        board.wait(100)
    before = board.cycles
    with pytest.raises(TimeoutError):
        board.wait(250_000)
    assert board.cycles - before == 250_000
    begin(board, COPY, 4096, SIZE, 4096)
    with pytest.raises(TimeoutError) as caught:
        board.wait(1000)
    bursts = sum(board.bus.write.bursts.values())
    assert f"write: {board.bus.write.beats} beats of {bursts} bursts, " in str(caught.value)
    board.wait(ENOUGH)
    before = board.cycles
    board.wait(0)
    assert board.cycles == before
    assert board.read32(INTERRUPT) == 1
    board.write32(INTERRUPT, 0)
    with pytest.raises(TimeoutError):
        board.wait(0)


def test_a_reset_in_the_middle_keeps_memory_and_the_next_run_is_right(
    board: SimulatedBoard,
) -> None:
    data = RNG.integers(0, 1 << 32, 2048, np.uint32)
    source, target = board.alloc(8192, 4096), board.alloc(8192, 4096)
    board.to_device(source, data)
    for cycles in range(20, 260, 23):
        begin(board, COPY, source.address, target.address, 2048)
        with pytest.raises(TimeoutError):
            board.wait(cycles)
        board.reset()
        assert (board.bus.read.waiting, board.bus.write.waiting) == (0, 0)
        assert board.read32(LENGTH) == 2047
        board.to_device(target, np.zeros(2048, np.uint32))
        run(board, COPY, source.address, target.address, 2048)
        assert np.array_equal(board.from_device(target, np.uint32, 2048), data)
    assert np.array_equal(board.from_device(source, np.uint32, 2048), data)


def test_reads_alone_and_writes_alone(board: SimulatedBoard) -> None:
    run(board, READ, 4096, 0, 100)
    assert board.bus.write.bursts == {}
    assert board.bus.write.latency.mean == 0
    check_direction(board.bus.read, 4096, 100, Dram())
    board.clear_bus()
    run(board, WRITE, 0, 4096, 100)
    assert board.bus.read.beats == 0
    check_direction(board.bus.write, 4096, 100, Dram())


def test_bursts_outside_memory_fail_once(board: SimulatedBoard, narrow: Built) -> None:
    end = narrow.memory.size
    begin(board, WRITE, destination=end - 16, words=20)
    with pytest.raises(CheckFailed, match=rf"^bursts outside memory: 1, the first at {end:#x};"):
        board.wait(ENOUGH)
    board.wait(ENOUGH)
    run(board, WRITE, destination=end - 16, words=4)


def test_buffers_are_aligned_do_not_overlap_and_end_with_memory(
    board: SimulatedBoard, narrow: Built
) -> None:
    one, other = board.alloc(5, 1), board.alloc(100, 4096)
    assert one.address + one.size <= other.address
    assert (one.size, other.size, other.address % 4096) == (5, 100, 0)
    left = narrow.memory.size - other.address - 128
    with pytest.raises(BadInput, match=rf"^alloc: size {left + 1}: memory has {left} of "):
        board.alloc(left + 1)
    last = board.alloc(left)
    board.to_device(last, RNG.integers(0, 256, 4096, np.uint8))
    with pytest.raises(BadInput, match=r"^alloc: size 1: memory has 0 of "):
        board.alloc(1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda board: board.alloc(0), "alloc: size 0, align 64: allowed"),
        (lambda board: board.alloc(4, 24), "alloc: size 4, align 24: allowed"),
        (lambda board: board.read32(2), "read32: offset 2: allowed are multiples of 4 below 4096"),
        (lambda board: board.read32(4096), "read32: offset 4096: allowed"),
        (lambda board: board.write32(-4, 0), "write32: offset -4: allowed"),
        (lambda board: board.write32(4, 1 << 32), "write32: value 4294967296: allowed"),
        (lambda board: board.write32(4, -1), "write32: value -1: allowed"),
        (lambda board: board.read32(64), "read32: offset 0x40: the accelerator answers with an er"),
        (lambda board: board.write32(64, 1), "write32: offset 0x40: the accelerator answers with"),
        (lambda board: board.wait(-1), "wait: timeout_cycles -1: allowed"),
        (
            lambda board: board.to_device(board.alloc(8), np.zeros(3, np.uint32)),
            "to_device: 12 bytes: allowed are the buffer's 8",
        ),
        (
            lambda board: board.from_device(board.alloc(8), np.uint8, (3, 3)),
            "from_device: 9 bytes: allowed are the buffer's 8",
        ),
        (
            lambda board: board.from_device(Buffer(1 << 28, 8), np.uint8, 8),
            "from_device: address 0x10000000: the memory has 268435456 bytes",
        ),
    ],
)
def test_refusals(board: SimulatedBoard, call, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        call(board)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_new_board_takes_no_memory_of_the_machine(narrow: Built) -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    before = resident()
    boards = [SimulatedBoard(narrow) for _ in range(3)]
    assert resident() - before < 3 * narrow.memory.size // 16
    assert not boards[2].from_device(Buffer(narrow.memory.size - 4096, 4096), np.uint8, 4096).any()


def test_a_top_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    memory = generated(Dram())
    export = convert(copier, arguments(design(Dram())), "verilog", tmp_path)

    def refusal(ports: Iterable[Port]) -> str:
        with pytest.raises(BadInput) as caught:
            wired(replace(export, ports=tuple(ports)), memory)
        return str(caught.value)

    without = [port for port in export.ports if port.name not in ("interrupt", "m_axi_bid")]
    assert refusal(without) == "copier: ports missing for a board: interrupt, m_axi_bid"
    more = (*export.ports, Port("aresetn", False, None))
    assert refusal(more) == "copier: a board needs exactly one port of rst, aresetn"
    clockless = [port for port in export.ports if port.name != "clk"]
    assert refusal(clockless) == "copier: a board needs exactly one port of clk, aclk"
    more = (*export.ports, Port("led", True, 8))
    assert refusal(more) == "copier: a board has no place for these ports: led"
    wide = arguments(design_of(MemoryPort(data_bits=64), 32))
    with pytest.raises(BadInput, match=r"^copier: m_axi has beats of 64 bits: allowed are the mem"):
        built(copier, wide, Dram())


def test_what_cannot_be_a_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    args = arguments(design(Dram()))
    with pytest.raises(BadInput, match=r"^module MT48LC16M16: allowed is a DDR3 module of lite"):
        built(copier, args, Dram(module="MT48LC16M16"))
    with pytest.raises(ValueError, match=r"^data_bits must be 8, 16, 32 or 64, not 24$"):
        Dram(data_bits=24)
    with pytest.raises(ValueError, match=r"^clock_mhz must be a whole number from 50 to 200"):
        Dram(clock_mhz=300)

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(BadInput, match=r"^litedram: package not found, .* 'merp\[board\]'$"):
        built(copier, args, Dram())
