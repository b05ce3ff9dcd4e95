"""A word for two: each gets every word once, in order, and neither gets ahead of the other."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample, at_random
from merp.hdl.base.signals import Stream
from merp.hdl.streams.broadcast import broadcast

WIDTH = 6


BENCH = BlockBench(broadcast, "clk rst", sink=Stream(WIDTH), one=Stream(WIDTH), other=Stream(WIDTH))


def play(rates: tuple[float, float, float], cycles: int) -> Recorded:
    """Words that count up, offered and taken at three rates."""
    rng = Random(f"{rates}")
    state = {"at": 0, "valid": 0}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        if state["valid"] and seen["sink_ready"]:
            state.update(at=state["at"] + 1, valid=0)
        if cycle and not state["valid"]:
            state["valid"] = int(rng.random() < rates[0])
        return {
            "rst": int(cycle == 0), "sink_valid": state["valid"],
            "sink_data": state["at"] % (1 << WIDTH), "sink_last": int(state["at"] % 5 == 4),
            "one_ready": int(rng.random() < rates[1]), "other_ready": int(rng.random() < rates[2]),
        }  # fmt: skip

    return BENCH.run(drive, cycles)


RATES = [(1.0, 1.0, 1.0), (0.5, 0.9, 0.9), (0.9, 0.3, 0.8), (0.9, 0.8, 0.2), (0.7, 0.5, 0.5)]


@pytest.mark.parametrize("rates", RATES)
def test_both_get_every_word_in_order(rates: tuple[float, float, float]) -> None:
    trace = play(rates, 300)
    taken, one, other = (trace.words(name) for name in ("sink", "one", "other"))
    assert len(taken) > 30
    for branch in (one, other):
        assert branch[: len(taken)] == taken
        assert len(branch) - len(taken) in (0, 1)


def test_a_word_per_cycle() -> None:
    assert len(play(RATES[0], 60).words("sink")) == 59


@pytest.mark.parametrize("idle", ["one", "other"])
def test_nobody_gets_a_word_twice_while_the_other_waits(idle: str) -> None:
    trace = play((1.0, float(idle != "one"), float(idle != "other")), 40)
    assert trace.words("sink") == trace.words(idle) == []
    assert trace.words({"one": "other", "other": "one"}[idle]) == [(0, 0)]


def test_a_reset_leaves_nothing_behind() -> None:
    rates = {"sink_valid": 0.7, "one_ready": 0.5, "other_ready": 0.5, "sink_last": 0.2}
    session = at_random(rates, {"sink_data": WIDTH}, pulses={"rst": 0})
    BENCH.as_new_after_reset(session, range(3, 30, 3), 40)


@pytest.mark.ghdl
def test_broadcast_vhdl(replays: Replays) -> None:
    replays(play(RATES[2], 120))
