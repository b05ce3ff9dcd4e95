"""A stream that is kept: every word in order, as many as there is room for, and how many."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.base.signals import Stream, count
from merp.hdl.streams.stream_fifo import stream_fifo
from merp.models.base.latencies import CREDIT_RETURN

WIDTH = 6


def bench_for(words: int) -> BlockBench:
    return BlockBench(
        stream_fifo, "clk rst start", sink=Stream(WIDTH), source=Stream(WIDTH),
        fill=count(words + 1), peak=count(words + 1), words=words,
    )  # fmt: skip


def play(words: int, rates: tuple[float, float], cycles: int, start: int | None = None) -> Recorded:
    """Words that count up, offered and taken at two rates; a start in a cycle."""
    rng = Random(f"{words} {rates}")
    state = {"at": 0, "valid": 0}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        if state["valid"] and seen["sink_ready"]:
            state.update(at=state["at"] + 1, valid=0)
        if cycle and not state["valid"]:
            state["valid"] = int(rng.random() < rates[0])
        return {
            "rst": int(cycle == 0), "start": int(cycle == start), "sink_valid": state["valid"],
            "sink_data": state["at"] % (1 << WIDTH), "sink_last": int(state["at"] % 5 == 4),
            "source_ready": int(rng.random() < rates[1]),
        }  # fmt: skip

    return bench_for(words).run(drive, cycles)


RATES = [(1.0, 1.0), (0.5, 0.9), (0.9, 0.3), (0.7, 0.6)]


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("words", [1, 2, CREDIT_RETURN, 9])
def test_every_word_in_order_and_how_many_are_kept(words: int, rates: tuple[float, float]) -> None:
    trace = play(words, rates, 200)
    taken, given = trace.transfers("sink"), trace.transfers("source")
    assert len(given) > 20
    assert trace.words("source") == trace.words("sink")[: len(given)]
    ins, outs = ({t for t, *_ in each} for each in (taken, given))
    kept, most = 0, 0
    for t, (fill, peak) in enumerate(zip(trace.column("fill"), trace.column("peak"), strict=True)):
        if t > 1:
            assert (fill, peak) == (kept, most)
        most = max(most, kept)
        kept += (t in ins) - (t in outs)
    assert most <= words + 1


def test_a_word_per_cycle() -> None:
    trace = play(CREDIT_RETURN, RATES[0], 60)
    assert [t for t, *_ in trace.transfers("source")] == list(range(3, 60))


def test_it_takes_as_many_as_it_has_room_for() -> None:
    trace = play(7, (1.0, 0.0), 40)
    assert len(trace.transfers("sink")) == 7 + 1 == trace.column("peak")[-1]


def test_start_forgets_the_peak_and_keeps_the_words() -> None:
    trace = play(7, (0.6, 0.6), 120, 60)
    peak, fill = trace.column("peak"), trace.column("fill")
    assert max(peak[:60]) > fill[60] == peak[61]
    given = trace.words("source")
    assert given == trace.words("sink")[: len(given)]


def test_a_reset_leaves_nothing_behind() -> None:
    rates = {"sink_valid": 0.7, "source_ready": 0.5, "sink_last": 0.2}
    session = at_random(rates, {"sink_data": WIDTH})
    payload = {"source_valid": "source_data source_last"}
    bench_for(CREDIT_RETURN).as_new_after_reset(session, range(3, 30, 3), 40, payload=payload)


@pytest.mark.ghdl
def test_stream_fifo_vhdl(replays: Replays) -> None:
    replays(play(CREDIT_RETURN, RATES[2], 120, 60))
