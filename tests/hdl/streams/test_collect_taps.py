"""Words of a stream in one word: the first is lowest, or the last, and pauses change nothing."""

from random import Random
from typing import Any

import pytest
from myhdl import block

from block_bench import BlockBench, Sample
from merp.hdl.base.signals import Stream, bits
from merp.hdl.streams.collect_taps import collect_taps

WIDTH = 4


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("taps", [1, 2, 9])
def test_words_are_collected_in_order(taps: int, rotated: bool) -> None:
    @block
    def bench(clk: Any, sink: Stream, collected: Any) -> Any:
        return collect_taps(clk, sink=sink, collected=collected, width=WIDTH, rotated=rotated)

    rng = Random(taps)

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        return {
            "sink_data": rng.randrange(1 << WIDTH), "sink_valid": rng.randrange(2),
            "sink_ready": rng.randrange(2),
        }  # fmt: skip

    ports = {"sink": Stream(WIDTH), "collected": bits(taps * WIDTH)}
    trace = BlockBench(bench, "clk", **ports).run(drive, 20 * taps + 20)
    kept = [0] * taps
    ended = 0
    steps = trace.columns("sink_valid", "sink_ready", "sink_data", "collected")
    for valid, ready, data, collected in steps:
        in_order = kept[::-1] if rotated else kept
        assert collected == sum(word << place * WIDTH for place, word in enumerate(in_order))
        if valid and ready:
            kept = [*kept[1:], data]
            ended += 1
    assert ended >= 2 * taps
