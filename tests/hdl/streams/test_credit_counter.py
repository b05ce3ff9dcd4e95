"""The registered check of credits against the counter beside it, in every cycle."""

from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import bits, count
from merp.hdl.conversion.entity import entity
from merp.hdl.streams.credit_counter import credit_check, credit_counter

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


def play(first: int, seed: int) -> Recorded:
    """Credits come and go at random, but never more than there are places and credits."""
    bench = BlockBench(
        counted, "clk rst start given spent enough", amount=bits(3), credits=count(PLACES),
        first=first,
    )  # fmt: skip
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

    return bench.run(drive, 600)


@pytest.mark.parametrize("first", [0, 2, PLACES])
def test_enough_is_what_the_count_says(first: int) -> None:
    trace = play(first, first)
    names = ("start", "credits", "amount", "enough", "given", "spent")
    rows = trace.columns(*names)[1:]
    for start, credits, amount, enough, *_ in rows:
        assert start or enough == (credits >= amount)
    seen = {(bool(enough), given, spent) for start, _, _, enough, given, spent in rows if not start}
    assert len(seen) == 6  # spent only where there are enough


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    assert replays(play(2, 7)) == 600
