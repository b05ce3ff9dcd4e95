"""Selection of a word: every place, words of other widths than the step, and nothing behind."""

from random import Random

import pytest
from myhdl import Signal, intbv

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.select_word import index_of, place_of, select_word
from merp.hdl.base.signals import bits


def check(count: int, width: int, place: int, seed: int) -> Recorded:
    """A new vector and a new index in every cycle, up to indices beyond the last word."""
    all_bits = count << place
    beyond = 2 * count
    rng = Random(seed)
    words = [rng.getrandbits(all_bits) for _ in range(40 + beyond)]
    indices = [*range(beyond), *(rng.randrange(beyond) for _ in range(40))]
    bench = BlockBench(
        select_word, "clk", words=bits(all_bits), index=bits((beyond - 1).bit_length()),
        word=bits(width), place=place,
    )  # fmt: skip
    trace = bench.feed(words=words, index=indices)
    expected = [
        (vector >> (index << place)) & ((1 << width) - 1)
        for vector, index in zip(words, indices, strict=True)
    ]
    assert trace.column("word") == [0, *expected[:-1]]
    return trace


@pytest.mark.parametrize(
    ("count", "width", "place"), [(1, 8, 3), (2, 32, 5), (5, 32, 5), (16, 16, 4), (3, 96, 5)]
)
def test_words_come_a_cycle_later(count: int, width: int, place: int) -> None:
    check(count, width, place, seed=count)


@pytest.mark.ghdl
@pytest.mark.parametrize(("count", "width", "place"), [(5, 32, 5), (3, 96, 5)])
def test_select_word_vhdl(count: int, width: int, place: int, replays: Replays) -> None:
    replays(check(count, width, place, seed=1))


@pytest.mark.parametrize("width", [16, 32, 96, 800])
def test_a_shift_names_the_word_that_begins_there(width: int) -> None:
    place = place_of(width)
    assert width % (1 << place) == 0
    assert width % (2 << place) != 0
    for begin in range(0, 4096, width):
        assert index_of(Signal(intbv(begin)[12:]), place) == begin >> place


def test_of_a_shift_of_few_bits_there_is_one_word() -> None:
    shift = bits(4)
    assert index_of(shift, 4) is shift
