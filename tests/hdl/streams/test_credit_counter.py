"""The registered check of credits against the counter beside it, in every cycle."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from merp.cosim.block.replay import replay
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import entity
from merp.hdl.streams.credit_counter import credit_check, credit_counter
from merp.testbenches.block.trace import Sample, Trace, run_block

PLACES = 9


@entity
def counted(
    clk: Any, rst: Any, start: Any, given: Any, spent: Any, amount: Any, credits: Any, enough: Any,
    first: int,
) -> Any:  # fmt: skip
    """Both, side by side."""
    return (
        credit_counter(clk, rst, start, given, spent, amount, credits, first),
        credit_check(clk, start, given, spent, amount, credits, enough, first),
    )


def play(first: int, seed: int) -> Trace:
    """Credits come and go at random, but never more than there are places and credits."""
    args = {
        "clk": flag(), "rst": flag(), "start": flag(), "given": flag(), "spent": flag(),
        "amount": bits(3), "credits": count(PLACES), "enough": flag(), "first": first,
    }  # fmt: skip
    rng = Random(seed)
    amount, there = 1, 0

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal amount, there
        if cycle % 50 == 0:
            amount, there = rng.randrange(1, 5), first
            return {"start": 1, "given": 0, "spent": 0, "amount": amount}
        spent = there >= amount and rng.random() < 0.5
        given = there < PLACES and rng.random() < 0.7
        there += given - spent * amount
        return {"start": 0, "given": int(given), "spent": int(spent)}

    return run_block(counted, args, ("rst", "start", "given", "spent", "amount"), drive, 600)


@pytest.mark.parametrize("first", [0, 2, PLACES])
def test_enough_is_what_the_count_says(first: int) -> None:
    trace = play(first, first)
    names = ("start", "credits", "amount", "enough", "given", "spent")
    rows = list(zip(*(trace.column(name) for name in names), strict=True))[1:]
    for start, credits, amount, enough, *_ in rows:
        assert start or enough == (credits >= amount)
    seen = {(bool(enough), given, spent) for start, _, _, enough, given, spent in rows if not start}
    assert len(seen) == 6  # spent only where there are enough


@pytest.mark.ghdl
def test_vhdl_replays(tmp_path: Path) -> None:
    assert replay(play(2, 7), tmp_path) == 600
