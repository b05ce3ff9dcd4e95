"""Bytes of a word that count: every tail of a last word, and words that are not the last one."""

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.signals import Stream, bits
from merp.hdl.memory.tail_keep import tail_keep

BYTES = 8
BENCH = BlockBench(tail_keep, "", stream=Stream(8 * BYTES), tail=bits(8), keep=bits(BYTES))


def play() -> Recorded:
    rows = [{"stream_last": last, "tail": tail} for last in (0, 1) for tail in range(BYTES + 1)]
    return BENCH.run(rows)


def test_every_tail() -> None:
    every = (1 << BYTES) - 1
    lasts = [every, *((1 << tail) - 1 for tail in range(1, BYTES + 1))]
    assert play().column("keep") == [every] * (BYTES + 1) + lasts


@pytest.mark.ghdl
def test_tail_keep_vhdl(replays: Replays) -> None:
    replays(play(), lint=True)
