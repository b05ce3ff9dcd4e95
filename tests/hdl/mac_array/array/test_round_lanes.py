"""Sums to words: bias, ties, bounds, ReLU behind the rounding, every shift; latency of both."""

from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.signals import bits
from merp.hdl.mac_array.array.round_lanes import TO_ROUNDED, TO_WORD, round_lanes
from merp.models.machines.mac_array.params.array_pass import NO_LIMIT
from merp.models.machines.mac_array.params.design import SUM_BITS, WORD_BITS
from merp.models.machines.mac_array.params.words import ROUNDED_BITS
from merp.testbenches.mac_array.words import any_word, clipped, joined, nearest, number, parted

LANES = 4


def sums_at(n: int, rng: Random) -> list[int]:
    """Ties around zero and at the bounds of a word, where a sum can be such; and random ones."""
    half = 1 << n - 1 if n > 0 else 0
    wholes = (0, 1, -1, 2, 32767, 32766, -32768, -32769)
    ties = [nearest(whole, -n) + half + rng.choice((-1, 0, 1)) for whole in wholes if n >= 0]
    return [*ties, *(rng.getrandbits(rng.randint(2, 47)) - (1 << 46) for _ in range(8))]


def check(seed: int, shifts: range, limits: tuple[int, ...] = ()) -> Recorded:
    """Runs of one shift each; biases of zero in every other one, so that ties are exact.

    limits: of ReLU6; without any, the block is built without.
    """
    rng = Random(seed)
    rows: list[dict[str, Any]] = []
    for n in shifts:
        for biased in (0, 1):
            setting = {"bias_shift": rng.randrange(16), "n": n, "relu": rng.getrandbits(1)}
            setting["limit"] = rng.choice(limits or (NO_LIMIT,))
            bias = [number(any_word(rng)) * biased for _ in range(LANES)]
            values = sums_at(n, rng)
            rows += [
                setting
                | {"bias": bias, "sums": [values[(i + c) % len(values)] for c in range(LANES)]}
                for i in range(len(values))
            ]
            rows += [setting | {"bias": bias, "sums": None}] * (TO_WORD + 2)  # registers change
    last = rows[-1]

    def drive(cycle: int, _: Any) -> dict[str, int]:
        row = rows[cycle]
        ahead = rows[cycle + 2] if cycle + 2 < len(rows) else last
        sums = row["sums"] or [rng.getrandbits(SUM_BITS) for _ in range(LANES)]
        return {
            "sums": joined(sums, SUM_BITS), "biases": joined(ahead["bias"]),
            "bias_shift": ahead["bias_shift"], "shift": rows[max(0, cycle - 1)]["n"] + 15,
            "relu": row["relu"], **({"limit": row["limit"]} if limits else {}),
        }  # fmt: skip

    bench = BlockBench(
        round_lanes, "clk relu", sums=bits(LANES * SUM_BITS), biases=bits(LANES * WORD_BITS),
        bias_shift=bits(4), shift=bits(6), rounded=bits(LANES * ROUNDED_BITS),
        words=bits(LANES * WORD_BITS), clipped=bits(LANES),
        **({"limit": bits(WORD_BITS)} if limits else {}),
    )  # fmt: skip
    trace = bench.run(drive, len(rows))
    rounded, words, flags = (trace.column(name) for name in ("rounded", "words", "clipped"))
    compared = 0
    for t, row in enumerate(rows):
        if row["sums"] is None or t < 2 or t + TO_WORD >= len(rows):
            continue
        exact = [
            nearest(value + (bias << row["bias_shift"]), row["n"])
            for value, bias in zip(row["sums"], row["bias"], strict=True)
        ]
        assert parted(rounded[t + TO_ROUNDED], LANES, ROUNDED_BITS) == [
            clipped(each, ROUNDED_BITS) for each in exact
        ]
        wanted = [clipped(each) for each in exact]
        found = parted(words[t + TO_WORD], LANES)
        limit = row["limit"]
        stopped = [min(max(0, each), limit) if row["relu"] else each for each in wanted]
        assert found == stopped, (t, row)
        assert flags[t + TO_WORD] == sum(
            (each != kept) << c for c, (each, kept) in enumerate(zip(exact, wanted, strict=True))
        )
        compared += 1
    assert compared > 10 * len(shifts)
    return trace


def test_every_shift() -> None:
    trace = check(0, range(-15, 31))
    assert any(trace.column("clipped"))


def test_relu6_stops_at_the_limit_and_counts_what_is_beyond_a_word_alone() -> None:
    check(2, range(-15, 31, 3), limits=(1, 6, 6 << 8, 6 << 12, 32767, NO_LIMIT))


@pytest.mark.ghdl
@pytest.mark.parametrize("limits", [(), (6 << 8, NO_LIMIT)])
def test_vhdl_replays(replays: Replays, limits: tuple[int, ...]) -> None:
    replays(check(1, range(-15, 31, 9), limits))
