"""Words side by side: the word and lane of each index, the word of each lane, those that count."""

from random import Random

import pytest
from myhdl import Signal, intbv

from block_bench import BlockBench
from merp.hdl.base.lane import split_index, word_of_lane, word_within
from merp.hdl.base.signals import bits

WIDTH = 5


@pytest.mark.parametrize(
    ("index_bits", "lane_bits", "word_bits"), [(1, 3, 1), (2, 2, 1), (5, 2, 3)]
)
def test_an_index_means_a_word_and_a_lane(index_bits: int, lane_bits: int, word_bits: int) -> None:
    """The lane a cycle later; the only word is word 0 then, however it powers up."""
    single = index_bits <= lane_bits
    bench = BlockBench(
        split_index, "clk", index=bits(index_bits), word=Signal(intbv(int(single))[word_bits:]),
        lane=bits(lane_bits),
    )  # fmt: skip
    indices = [Random(cycle).getrandbits(index_bits) for cycle in range(40)]
    trace = bench.feed(index=indices)
    assert trace.column("lane")[1:] == [index % (1 << lane_bits) for index in indices[:-1]]
    words = [index >> lane_bits for index in indices]
    assert trace.column("word")[1:] == words[1:]


@pytest.mark.parametrize("lanes", [1, 2, 3, 8])
def test_a_lane_gives_its_word(lanes: int) -> None:
    rng = Random(lanes)
    words = [rng.getrandbits(WIDTH * lanes) for _ in range(4 * lanes)]
    bench = BlockBench(
        word_of_lane, words=bits(WIDTH * lanes), lane=bits(max(1, (lanes - 1).bit_length())),
        word=bits(WIDTH),
    )  # fmt: skip
    trace = bench.run(lambda cycle, _: {"words": words[cycle], "lane": cycle % lanes}, len(words))
    wanted = [words[t] >> t % lanes * WIDTH & (1 << WIDTH) - 1 for t in range(len(words))]
    assert trace.column("word") == wanted


@pytest.mark.parametrize("at", [0, 1, 3])
def test_a_word_that_does_not_count_is_zero(at: int) -> None:
    bench = BlockBench(word_within, word=bits(WIDTH), counted=bits(3), kept=bits(WIDTH), at=at)
    trace = bench.run(lambda cycle, _: {"word": 31 - cycle, "counted": cycle % 8}, 16)
    assert trace.column("kept") == [31 - t if t % 8 > at else 0 for t in range(16)]
