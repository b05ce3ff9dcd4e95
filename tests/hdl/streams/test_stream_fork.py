"""A stream for two: each gets every word, none holds the other up but for want of room."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.base.signals import Stream
from merp.hdl.streams.stream_fork import stream_fork
from merp.models.base.latencies import CREDIT_RETURN

WIDTH = 6
FULL_RATE = CREDIT_RETURN


def bench_for(words: int) -> BlockBench:
    return BlockBench(
        stream_fork, "clk rst start", sink=Stream(WIDTH), one=Stream(WIDTH), other=Stream(WIDTH),
        words=words,
    )  # fmt: skip


def play(words: int, rates: tuple[float, float, float], cycles: int, cut: int | None) -> Recorded:
    """Words that count up, offered and taken at three rates; a start in cycle ``cut``."""
    rng = Random(f"{words} {rates}")
    state = {"at": 0, "valid": 0}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        if state["valid"] and seen["sink_ready"]:
            state.update(at=state["at"] + 1, valid=0)
        if cycle == cut or cycle == 0:
            state.update(valid=0)
        elif not state["valid"]:
            state["valid"] = int(rng.random() < rates[0])
        return {
            "rst": int(cycle == 0), "start": int(cycle == cut), "sink_valid": state["valid"],
            "sink_data": state["at"] % (1 << WIDTH), "sink_last": int(state["at"] % 5 == 4),
            "one_ready": int(rng.random() < rates[1]), "other_ready": int(rng.random() < rates[2]),
        }  # fmt: skip

    return bench_for(words).run(drive, cycles)


RATES = [(1.0, 1.0, 1.0), (0.5, 0.9, 0.9), (0.9, 0.3, 0.8), (0.9, 0.8, 0.2), (0.7, 0.5, 0.5)]


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("words", [1, 2, FULL_RATE, 9])
def test_both_get_every_word_in_order(words: int, rates: tuple[float, float, float]) -> None:
    trace = play(words, rates, 300, None)
    taken, *given = (trace.words(name) for name in ("sink", "one", "other"))
    assert len(taken) > 30
    for branch in given:
        assert branch == taken[: len(branch)]
        assert len(taken) - len(branch) <= words + 1
    assert abs(len(given[0]) - len(given[1])) <= words + 1


def test_a_word_per_cycle() -> None:
    trace = play(FULL_RATE, RATES[0], 60, None)
    assert [t for t, *_ in trace.transfers("one")] == list(range(3, 60))
    assert [t for t, *_ in trace.transfers("other")] == list(range(3, 60))


@pytest.mark.parametrize("idle", ["one", "other"])
def test_one_alone_goes_as_far_ahead_as_there_is_room(idle: str) -> None:
    rates = (1.0, float(idle != "one"), float(idle != "other"))
    trace = play(7, rates, 40, None)
    assert trace.transfers(idle) == []
    assert len(trace.transfers("sink")) == 7 + 1


def test_start_forgets_what_has_not_left() -> None:
    trace = play(5, (1.0, 0.0, 0.4), 80, 40)
    before = len([t for t, *_ in trace.transfers("sink") if t < 40])
    assert before == 5 + 1
    after = [word for word in trace.transfers("sink") if word[0] > 40]
    assert [word[1:] for word in trace.transfers("other") if word[0] > 40] == [
        word[1:] for word in after
    ][: len([t for t, *_ in trace.transfers("other") if t > 40])]
    assert len(after) == 5 + 1


def test_a_reset_leaves_nothing_behind() -> None:
    rates = {"sink_valid": 0.7, "one_ready": 0.5, "other_ready": 0.5, "sink_last": 0.2}
    payload = {f"{name}_valid": f"{name}_data {name}_last" for name in ("one", "other")}
    session = at_random(rates, {"sink_data": WIDTH})
    bench_for(FULL_RATE).as_new_after_reset(session, range(3, 30, 3), 40, payload=payload)


@pytest.mark.ghdl
def test_stream_fork_vhdl(replays: Replays) -> None:
    replays(play(FULL_RATE, RATES[2], 120, 60))
