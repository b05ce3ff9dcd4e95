"""Counts of a simulated board that depend on time: accesses to rows, and bytes by time."""

from contextlib import suppress

import numpy as np
import pytest

from copier import (
    COPY,
    DESTINATION,
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
from merp.cosim.board.bus import WINDOWS, Bus
from merp.cosim.board.dram import Dram
from merp.cosim.board.simulated import SimulatedBoard
from merp.models.memory.params.memory_port import MemoryPort
from needed_tools import needs

pytestmark = [pytest.mark.verilator, needs("litedram")]
WORD = 4
ENOUGH = 200_000
REFRESH = 700
"""Cycles between two refreshes at 100 MHz, at least: one is needed every 7.8 us (JESD79-3F)."""


def build(data_bits: int) -> Built:
    dram = Dram(data_bits=data_bits)
    return built(copier, arguments(design_of(MemoryPort(data_bits=dram.port_bits), 8 * WORD)), dram)


@pytest.fixture(scope="module")
def narrow() -> Built:
    return build(16)


def begin(board: SimulatedBoard, kind: int, source: int, target: int, words: int) -> None:
    board.clear_bus()
    for offset, value in ((SOURCE, source), (DESTINATION, target), (LENGTH, words - 1)):
        board.write32(offset, value)
    board.write32(START, kind)


def run(library: Built, kind: int, source: int = 0, target: int = 0, words: int = 1) -> Bus:
    board = SimulatedBoard(library)
    begin(board, kind, source, target, words)
    board.wait(ENOUGH)
    return board.bus


@pytest.mark.parametrize("kind", [READ, WRITE])
@pytest.mark.parametrize("data_bits", [16, *in_full(8, 64)])
def test_one_direction_opens_each_row_once_and_again_after_a_refresh(
    data_bits: int, kind: int
) -> None:
    library = build(data_bits)
    row = library.memory.row_bytes
    bus = run(library, kind, 3 * row, 3 * row, 24 * row // WORD)
    found = bus.read if kind == READ else bus.write
    other = bus.write if kind == READ else bus.read
    assert (other.row_hits, other.row_misses) == (0, 0)
    assert found.row_hits + found.row_misses == found.beats == 24 * row // library.memory.beat_bytes
    refreshes = bus.cycles // REFRESH + 1
    assert refreshes > 3
    # A refresh closes the open row. LiteDRAM may have opened the next one already.
    assert 24 + 3 < found.row_misses <= 24 + 2 * refreshes


def test_a_copy_between_rows_of_a_bank_misses_more_often(narrow: Built) -> None:
    """A copier reads two bursts ahead of its writes, so it needs the row of the next bank."""
    row, banks = narrow.memory.row_bytes, narrow.memory.banks
    words = 8 * row // WORD
    misses = []
    for bank in range(banks):
        bus = run(narrow, COPY, 0, (16 * banks + bank) * row, words)
        misses.append(bus.read.row_misses + bus.write.row_misses)
    assert 2 * 8 <= min(misses)
    assert max(misses) > 1.5 * min(misses)


def test_an_access_alone_is_a_miss_and_a_second_one_to_its_row_a_hit(narrow: Built) -> None:
    def of(kind: int, words: int) -> tuple[int, ...]:
        bus = run(narrow, kind, 4096, 4096, words)
        return bus.read.row_hits, bus.read.row_misses, bus.write.row_hits, bus.write.row_misses

    assert of(READ, 1) == (0, 1, 0, 0)
    assert of(WRITE, 1) == (0, 0, 0, 1)
    assert of(READ, 8) == (1, 1, 0, 0)
    assert of(WRITE, 8) == (0, 0, 1, 1)


def test_no_access_is_counted_twice_and_a_new_count_begins_at_zero(narrow: Built) -> None:
    board = SimulatedBoard(narrow)
    begin(board, COPY, 0, 1 << 20, 4096)
    board.wait(ENOUGH)
    first = board.bus
    board.clear_bus()
    empty = board.bus
    assert (empty.cycles, empty.read.windows, empty.write.windows) == (0, (), ())
    assert (empty.read.row_hits, empty.read.row_misses) == (0, 0)
    begin(board, COPY, 0, 1 << 20, 4096)
    board.wait(ENOUGH)
    again = board.bus
    assert again.read.beats == again.read.row_hits + again.read.row_misses == first.read.beats


@pytest.mark.parametrize("words", [1, 500, 4000, 30_000])
def test_windows_have_every_byte_in_its_cycles(narrow: Built, words: int) -> None:
    """A second board is watched every 16 cycles."""
    place = 4096, (1 << 20) + 8, words
    bus = run(narrow, COPY, *place)
    board = SimulatedBoard(narrow)
    begin(board, COPY, *place)
    with suppress(TimeoutError):
        board.wait(-board.bus.cycles % 16)
    seen = {"read": [0, 0], "write": [0, 0]}  # bytes until the end of each 16 cycles
    before = board.bus.cycles // 16
    assert board.bus.read.bytes + board.bus.write.bytes == 0
    done = False
    while not done:
        try:
            board.wait(16)
            done = True
        except TimeoutError:
            pass
        for direction, ends in seen.items():
            ends.append(getattr(board.bus, direction).bytes)
    assert bus.window >= 16
    assert bus.window & (bus.window - 1) == 0
    number = -(-bus.cycles // bus.window)
    assert WINDOWS // 2 < number <= WINDOWS or bus.window == 16
    for direction, ends in seen.items():
        found = getattr(bus, direction)
        assert len(found.windows) == number
        assert sum(found.windows) == found.bytes
        small = np.diff([0] * (before + 1 - 2) + ends)
        small = np.pad(small, (0, -small.size % (bus.window // 16)))
        wide = small.reshape(-1, bus.window // 16).sum(axis=1)
        assert list(found.windows) == [int(each) for each in wide[:number]]
        assert not wide[number:].any()
        assert max(found.windows) <= bus.window * narrow.memory.beat_bytes
