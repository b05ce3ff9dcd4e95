"""The count of a port: transfers and nothing else, from start on."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.signals import AxiStream, count
from merp.hdl.base.word_counter import word_counter

PINS = ("rst", "start", "stream_tdata", "stream_tvalid", "stream_tready", "stream_tlast")


def check(seed: int, cycles: int) -> Recorded:
    """Any mixture of handshakes, starts and resets, several in one cycle too."""
    rng = Random(seed)
    rare = {"rst": 0.02, "start": 0.03, "stream_tdata": 0.5}
    rows = [{pin: int(rng.random() < rare.get(pin, 0.6)) for pin in PINS} for _ in range(cycles)]
    bench = BlockBench(word_counter, "clk rst start", stream=AxiStream(8), words=count(1000))
    trace = bench.run(rows, cycles)
    expected, words = [], 0
    for row in rows:
        expected.append(words)
        words += row["stream_tvalid"] and row["stream_tready"]
        if row["start"] or row["rst"]:
            words = 0
    assert trace.column("words") == expected
    return trace


@pytest.mark.parametrize("seed", range(3))
def test_transfers_are_counted(seed: int) -> None:
    trace = check(seed, 400)
    assert max(trace.column("words")) > 5


@pytest.mark.ghdl
def test_word_counter_vhdl(replays: Replays) -> None:
    replays(check(7, 300))
