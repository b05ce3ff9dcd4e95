"""Zeros behind every so many words: their number, their place, the last, pauses and resets."""

from random import Random

import pytest

from block_bench import BlockBench, Sample, at_random
from merp.hdl.base.signals import Stream, bits
from merp.hdl.streams.tail_filler import tail_filler

BENCH = BlockBench(
    tail_filler, "clk rst start", length=bits(3), filling=bits(3), sink=Stream(4), source=Stream(4)
)


@pytest.mark.parametrize(("length", "filling"), [(1, 0), (1, 3), (3, 1), (4, 0), (7, 5)])
@pytest.mark.parametrize("missing", [False, True])
def test_words_and_zeros_leave_in_order(length: int, filling: int, missing: bool) -> None:
    """Three runs of two lengths each, the second one cut off by a reset.

    ``missing``: a last never comes, and none is made up.
    """
    rng = Random(length + 8 * filling)
    runs = [[rng.randrange(1, 16) for _ in range(2 * length)] for _ in range(3)]
    left: list[int] = []
    offered = False
    played = 0

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal left, offered, played
        values = {"rst": int(cycle < 1), "start": 0, "length": length, "filling": filling}
        if cycle and offered and seen["sink_ready"]:
            left, offered = left[1:], False
        cut = played == 2 and len(left) == length - 1 and length > 1
        idle = 80 * played + 1
        if cut or (not left and cycle >= idle and played < 3):
            values |= {"start": int(not cut), "rst": int(cut)}
            left = [] if cut else runs[played]
            played += not cut
            offered = False
            return values | {"sink_valid": 0, "source_ready": int(rng.random() < 0.5)}
        offered = offered or (bool(left) and rng.random() < 0.7)
        values |= {"sink_valid": int(offered), "source_ready": int(rng.random() < 0.6)}
        if offered:
            values |= {"sink_data": left[0], "sink_last": int(len(left) == 1 and not missing)}
        return values

    trace = BENCH.run(drive, 280)
    sent = trace.transfers("source")
    starts = [cycle for cycle, start in enumerate(trace.column("start")) if start]
    assert len(starts) == 3
    for run, (begin, end) in enumerate(zip(starts, [*starts[1:], 280], strict=True)):
        found = [(data, last) for cycle, data, last in sent if begin < cycle < end]
        words = [*runs[run][:length], *[0] * filling, *runs[run][length:], *[0] * filling]
        whole = [(word, int(at == len(words) - 1 and not missing)) for at, word in enumerate(words)]
        if run == 1 and length > 1:
            assert found == whole[: len(found)]
            assert len(found) < len(whole)
        else:
            assert found == whole


def test_a_last_that_comes_early_stays_with_its_word() -> None:
    """That of the second word of three, and none of the zeros has one."""

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        at = cycle - 2
        return {
            "rst": int(cycle == 0), "start": int(cycle == 1), "length": 3, "filling": 2,
            "sink_data": cycle, "sink_valid": int(0 <= at < 3), "sink_last": int(at == 1),
            "source_ready": int(cycle > 1),
        }  # fmt: skip

    trace = BENCH.run(drive, 8)
    assert trace.column("source_valid")[2:] == [1, 1, 1, 1, 1, 0]
    assert trace.column("source_data")[2:7] == [2, 3, 4, 0, 0]
    assert trace.column("source_last")[2:7] == [0, 1, 0, 0, 0]


def test_after_a_reset_it_is_as_new() -> None:
    """Without a start as well; a zero that was still to be sent is not."""
    rates = {"sink_valid": 0.7, "sink_last": 0.3, "source_ready": 0.6}
    fixed = {"length": 3, "filling": 4}
    session = at_random(rates, {"sink_data": 4}, fixed, begin=1, pulses={"rst": 0})
    payload = {"source_valid": "source_data source_last"}
    BENCH.as_new_after_reset(session, range(1, 20), 30, payload=payload)
