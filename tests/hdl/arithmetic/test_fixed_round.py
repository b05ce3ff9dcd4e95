"""Rounding in fixed point against exact fractions: ties, bounds, every shift, random bits."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.arithmetic.fixed_round import fixed_round
from merp.hdl.base.signals import bits, flag

LATENCY = 3
RANDOM = 16
CASES = [(48, 18, 15, 30), (48, 16, 15, 30), (33, 18, 0, 47), (16, 18, 15, 15), (20, 8, 0, 9)]
"""Bits of value and result, left, the largest n."""


def golden(value: int, n: int, size: int) -> int:
    """Python rounds fractions to nearest, ties to even."""
    rounded = round(Fraction(value) / Fraction(2) ** n)
    return max(-(1 << size - 1), min((1 << size - 1) - 1, rounded))


def golden_stochastic(value: int, n: int, size: int, random: int) -> int:
    whole = (value * 2 ** (RANDOM - n) if n <= RANDOM else value >> (n - RANDOM)) + random
    return max(-(1 << size - 1), min((1 << size - 1) - 1, whole >> RANDOM))


def values(width: int, n: int, size: int, rng: Random) -> list[int]:
    """Ties and their neighbours, both sides of the bounds, the extremes, and random ones."""
    low, high = -(1 << width - 1), (1 << width - 1) - 1
    found = [low, low + 1, high, high - 1, 0, 1, -1]
    for whole in (0, 1, 2, -1, -2, -3, (1 << size - 1) - 1, -(1 << size - 1), -(1 << size - 1) - 1):
        tie = (2 * whole + 1 << n) // 2 if n > 0 else whole >> -n
        found += [tie - 1, tie, tie + 1]
    found += [rng.getrandbits(rng.randint(1, width)) - (1 << width - 1) for _ in range(12)]
    return [value for value in found if low <= value <= high]


def check(case: tuple[int, int, int, int], random: bool, every: int = 1) -> Recorded:
    width, size, left, right = case
    rng = Random(f"{case} {random}")
    rows = [
        (value, n, rng.getrandbits(1), rng.choice((0, (1 << RANDOM) - 1, rng.getrandbits(RANDOM))))
        for n in range(-left, right + 1)
        for value in values(width, n, size, rng)[::every]
    ]
    bench = BlockBench(
        fixed_round, "clk", value=bits(width), shift=bits((left + right).bit_length()),
        rounded=bits(size), left=left,
        **({"stochastic": flag(), "random": bits(RANDOM)} if random else {}),
    )  # fmt: skip

    def drive(cycle: int, _: Any) -> dict[str, int]:
        value, n = rows[cycle][:2]
        stochastic, noise = rows[cycle - 2][2:] if cycle >= 2 else (1, 0)
        given = {"value": value & (1 << width) - 1, "shift": n + left}
        return given | ({"stochastic": stochastic, "random": noise} if random else {})

    trace = bench.run(drive, len(rows))
    wanted = [
        golden_stochastic(value, n, size, noise)
        if random and stochastic
        else golden(value, n, size)
        for value, n, stochastic, noise in rows
    ]
    found = trace.column("rounded")[LATENCY:]
    assert found == [each & (1 << size) - 1 for each in wanted[:-LATENCY]]
    assert len(found) > 200 // every
    return trace


@pytest.mark.sample(4)
@pytest.mark.parametrize("random", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_it_rounds_as_fractions_do(case: tuple[int, int, int, int], random: bool) -> None:
    check(case, random)


def test_a_tie_goes_to_the_even_one() -> None:
    assert [golden(value, 1, 8) for value in (-3, -1, 1, 3, 5)] == [-2, 0, 0, 2, 2]


@pytest.mark.ghdl
@pytest.mark.parametrize(("case", "random"), [(CASES[0], False), (CASES[2], True)])
def test_vhdl_replays(case: tuple[int, int, int, int], random: bool, replays: Replays) -> None:
    replays(check(case, random, every=3))


@pytest.mark.full
@pytest.mark.verilator
def test_verilog_replays(replays: Replays) -> None:
    replays(check(CASES[2], True), "verilator")
