"""The count of a port of several elements in a beat: what its keep says, and nothing else."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.element_counter import counter_of, element_counter
from merp.hdl.base.signals import AxiStream, count
from merp.hdl.base.word_counter import word_counter

LANES, LANE_BYTES = 4, 2
PINS = ("rst", "start", "stream_tvalid", "stream_tready", "stream_tkeep")


def check(seed: int, cycles: int) -> Recorded:
    """Full beats, those with fewer elements, handshakes, starts and resets at random."""
    rng = Random(seed)
    rare = {"rst": 0.02, "start": 0.03}
    rows, kept = [], []
    for _ in range(cycles):
        kept.append(rng.choice((LANES, rng.randrange(LANES + 1))))
        row = {pin: int(rng.random() < rare.get(pin, 0.6)) for pin in PINS}
        rows.append(row | {"stream_tkeep": (1 << kept[-1] * LANE_BYTES) - 1})
    stream = AxiStream(8 * LANE_BYTES, LANES)
    bench = BlockBench(element_counter, "clk rst start", stream=stream, words=count(9999))
    trace = bench.run(rows, cycles)
    expected, words, moved = [], 0, 0
    for row, elements in zip(rows, kept, strict=True):
        expected.append(words)
        words += moved
        moved = elements * (row["stream_tvalid"] and row["stream_tready"])
        if row["start"] or row["rst"]:
            words = moved = 0
    assert trace.column("words") == expected
    return trace


@pytest.mark.parametrize("seed", range(2))
def test_elements_that_are_kept_are_counted(seed: int) -> None:
    assert max(check(seed, 300).column("words")) > 20


def test_a_stream_of_single_words_has_the_plain_counter() -> None:
    assert counter_of(AxiStream(8)) is word_counter
    assert counter_of(AxiStream(8, 2)) is element_counter


@pytest.mark.ghdl
def test_element_counter_vhdl(replays: Replays) -> None:
    replays(check(7, 200))
