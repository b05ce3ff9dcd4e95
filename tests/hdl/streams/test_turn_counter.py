"""Turns of two on one stream: so many words each, whenever they come."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from merp.cosim.block.replay import replay
from merp.hdl.base.signals import bits, flag
from merp.hdl.streams.turn_counter import turn_counter
from merp.testbenches.block.trace import Sample, Trace, run_block

INPUTS = ("rst", "start", "words", "taken")


def play(words: int, seed: int, cut: str | None = None, cycles: int = 160) -> Trace:
    """Words now and then; in the middle of a turn a start, or a reset."""
    args: dict[str, Any] = {
        "clk": flag(), "rst": flag(), "start": flag(), "words": bits(3), "taken": flag(),
        "second": flag(), "turn_ends": flag(),
    }  # fmt: skip
    rng = Random(seed)

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        return {
            "rst": int(cycle == 0 or (cut == "rst" and cycle == 50)),
            "start": int(cut == "start" and cycle == 50),
            "words": words,
            "taken": int(cycle > 0 and rng.random() < 0.7),
        }

    return run_block(turn_counter, args, INPUTS, drive, cycles)


@pytest.mark.parametrize("cut", [None, "start", "rst"])
@pytest.mark.parametrize("words", range(1, 8))
def test_each_has_as_many_words_in_turn(words: int, cut: str | None) -> None:
    trace = play(words, words, cut)
    passed = 0
    columns = (trace.column(name) for name in ("rst", "start", "taken", "second", "turn_ends"))
    for rst, start, taken, second, ends in list(zip(*columns, strict=True))[1:]:
        assert second == passed // words % 2
        assert ends == (passed % words == words - 1)
        passed = 0 if rst or start else passed + taken
    assert passed > 2 * words


@pytest.mark.ghdl
def test_vhdl_does_the_same(tmp_path: Path) -> None:
    trace = play(3, 1, "start")
    assert replay(trace, tmp_path) == len(trace.rows)
