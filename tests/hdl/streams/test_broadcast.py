"""A word for two: each gets every word once, in order, and neither gets ahead of the other."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from merp.cosim.block.replay import replay
from merp.hdl.base.signals import Stream, flag
from merp.hdl.streams.broadcast import broadcast
from merp.testbenches.block.reset import as_new_after_reset, at_random
from merp.testbenches.block.trace import Sample, Trace, run_block

WIDTH = 6
INPUTS = ("rst", "sink_data", "sink_valid", "sink_last", "one_ready", "other_ready")


def arguments() -> dict[str, Any]:
    return {
        "clk": flag(), "rst": flag(), "sink": Stream(WIDTH), "one": Stream(WIDTH),
        "other": Stream(WIDTH),
    }  # fmt: skip


def play(rates: tuple[float, float, float], cycles: int) -> Trace:
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

    return run_block(broadcast, arguments(), INPUTS, drive, cycles)


def passed(trace: Trace, stream: str) -> list[tuple[int, int]]:
    names = ("valid", "ready", "data", "last")
    columns = zip(*(trace.column(f"{stream}_{name}") for name in names), strict=True)
    return [(data, last) for on, off, data, last in columns if on and off]


RATES = [(1.0, 1.0, 1.0), (0.5, 0.9, 0.9), (0.9, 0.3, 0.8), (0.9, 0.8, 0.2), (0.7, 0.5, 0.5)]


@pytest.mark.parametrize("rates", RATES)
def test_both_get_every_word_in_order(rates: tuple[float, float, float]) -> None:
    trace = play(rates, 300)
    taken, one, other = (passed(trace, name) for name in ("sink", "one", "other"))
    assert len(taken) > 30
    for branch in (one, other):
        assert branch[: len(taken)] == taken
        assert len(branch) - len(taken) in (0, 1)


def test_a_word_per_cycle() -> None:
    assert len(passed(play(RATES[0], 60), "sink")) == 59


@pytest.mark.parametrize("idle", ["one", "other"])
def test_nobody_gets_a_word_twice_while_the_other_waits(idle: str) -> None:
    trace = play((1.0, float(idle != "one"), float(idle != "other")), 40)
    assert passed(trace, "sink") == passed(trace, idle) == []
    assert passed(trace, {"one": "other", "other": "one"}[idle]) == [(0, 0)]


def test_a_reset_leaves_nothing_behind() -> None:
    def session(number: int) -> Any:
        drive = at_random(
            number, {}, {"sink_valid": 0.7, "one_ready": 0.5, "other_ready": 0.5, "sink_last": 0.2},
            {"sink_data": WIDTH},
        )  # fmt: skip
        return lambda cycle, seen: {k: v for k, v in drive(cycle, seen).items() if k != "start"}

    as_new_after_reset(broadcast, arguments(), INPUTS, session, range(3, 30, 3), 40)


@pytest.mark.ghdl
def test_broadcast_vhdl(tmp_path: Path) -> None:
    trace = play(RATES[2], 120)
    assert replay(trace, tmp_path) == len(trace.rows)
