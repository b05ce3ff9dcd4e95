"""The step of a word: clipped once, momentum towards zero, both roundings, every shift."""

from random import Random
from typing import Any

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.signals import bits, flag
from merp.hdl.mac_array.ports.updates import StepRule, WordClipped, step_words
from merp.hdl.mac_array.update.weight_update import (
    TO_GRADIENT,
    TO_KERNEL,
    TO_VELOCITY,
    weight_update,
)
from merp.models.machines.mac_array.params.design import WORD_BITS
from merp.models.machines.mac_array.params.words import RANDOM_BITS, ROUNDED_BITS
from merp.testbenches.mac_array.words import any_word, clipped, nearest, number

Row = dict[str, int]


def decayed(momentum: int, velocity: int) -> int:
    """Their product, of which what lies behind the point is dropped."""
    size = momentum * abs(velocity) // (1 << 16)
    return -size if velocity < 0 else size


def golden(row: Row, has_momentum: bool) -> dict[str, int]:
    exact = row["gradient"] + row["increment"]
    gradient = clipped(exact)
    moved = nearest(gradient, row["n"])
    moved += decayed(row["momentum"], row["velocity"]) if has_momentum else 0
    velocity = clipped(moved)
    step = -row["rate"] * velocity
    if row["stochastic"]:
        fraction = step * 2 ** max(0, 16 - row["s"]) >> max(0, row["s"] - 16)
        kernel = row["kernel"] + (fraction + row["random"] >> 16)
    else:
        kernel = row["kernel"] + nearest(step, row["s"])
    return {
        "new_gradient": gradient, "clipped_gradient": int(gradient != exact),
        "new_velocity": velocity, "clipped_velocity": int(velocity != moved),
        "new_kernel": clipped(kernel), "clipped_kernel": int(clipped(kernel) != kernel),
    }  # fmt: skip


AFTER = {"gradient": TO_GRADIENT, "velocity": TO_VELOCITY, "kernel": TO_KERNEL}


def rows_at(n: int, s: int, rng: Random, count: int) -> list[Row]:
    rows = []
    setting = {
        "n": n, "s": s, "rate": rng.choice((0xFFFF, 0x8000, rng.randrange(0x8000, 0x10000))),
        "momentum": rng.choice((0, 0xFFFF, 58982, rng.randrange(0x10000))),
        "stochastic": rng.getrandbits(1),
    }  # fmt: skip
    for _ in range(count):
        small = rng.random() < 0.4
        reach = 40 if small else 1 << ROUNDED_BITS - 1
        row = {name: number(any_word(rng)) for name in ("gradient", "velocity", "kernel")}
        if small:
            row |= {"gradient": rng.randint(-40, 40), "velocity": rng.randint(-9, 9)}
        row |= {"increment": rng.randrange(-reach, reach), "random": rng.getrandbits(RANDOM_BITS)}
        rows.append(setting | row)
    return rows


def run(rows: list[Row], has_momentum: bool, stochastic: bool) -> Recorded:
    """Rows of one setting each; what belongs to a row comes in the cycle it is asked for."""
    args: dict[str, Any] = {
        "clk": flag(), "increment": bits(ROUNDED_BITS),
        "rule": StepRule(
            velocity_shift=bits(5), update_shift=bits(6), minus_rate=bits(WORD_BITS + 1),
            momentum=bits(WORD_BITS) if has_momentum else None,
            stochastic=flag() if stochastic else None,
        ),
        "old": step_words(WORD_BITS, velocity=has_momentum), "new": step_words(WORD_BITS),
        "clipped": WordClipped(),
    }  # fmt: skip
    late = {"increment": 0, "old_gradient": 0, "old_kernel": 10}
    settings = {}
    if has_momentum:
        late |= {"old_velocity": 1}
        settings |= {"momentum": 1}
    if stochastic:
        args |= {"random": bits(RANDOM_BITS)}
        late |= {"random": 9}
        settings |= {"stochastic": 9}
    widths = {"increment": ROUNDED_BITS, "random": RANDOM_BITS}

    def drive(cycle: int, _: Any) -> Row:
        def row(ago: int) -> Row:
            return rows[max(0, cycle - ago)]

        values = {
            name: row(ago)[name.removeprefix("old_")] & (1 << widths.get(name, WORD_BITS)) - 1
            for name, ago in late.items()
        }
        # Registers are those of rows in the stages that they are read in.
        return values | {
            "rule_velocity_shift": row(1)["n"] + 15, "rule_update_shift": row(7)["s"],
            "rule_minus_rate": -row(5)["rate"] & 0x1FFFF,
            **{f"rule_{name}": row(ago)[name] for name, ago in settings.items()},
        }  # fmt: skip

    trace = BlockBench(weight_update, **args).run(drive, len(rows))
    for t, row in enumerate(rows):
        given = row if stochastic else row | {"stochastic": 0}
        for name, value in golden(given, has_momentum).items():
            after = AFTER[name.partition("_")[2]]
            if t + after < len(rows):
                width = 1 if name.startswith("clipped") else WORD_BITS
                assert trace.column(name)[t + after] == value & (1 << width) - 1, (t, name, row)
    return trace


@pytest.mark.parametrize("has_momentum", [True, False])
@pytest.mark.parametrize("stochastic", [True, False])
def test_every_shift(has_momentum: bool, stochastic: bool) -> None:
    rng = Random(f"{has_momentum} {stochastic}")
    rows = [row for s in range(48) for row in rows_at(s % 31 - 15, s, rng, 14)]
    trace = run(rows, has_momentum, stochastic)
    for name in AFTER:
        assert any(trace.column(f"clipped_{name}")), name


def test_a_velocity_without_gradient_ends_at_zero_and_stays() -> None:
    """Momentum 0.9: rounded to nearest, a velocity of 5 would stay at 4 for ever."""
    seen = [5, -5]
    for _ in range(12):
        rows = [
            {"increment": 0, "gradient": 0, "velocity": velocity, "kernel": 100, "n": 2, "s": 20,
             "rate": 0x8000, "momentum": 58982, "stochastic": 0, "random": 0}
            for velocity in seen
        ]  # fmt: skip
        trace = run(rows + rows[-1:] * TO_KERNEL, True, False)
        seen = [number(trace.column("new_velocity")[t + TO_VELOCITY]) for t in range(2)]
    assert seen == [0, 0]


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    rng = Random(8)
    rows = [row for s in range(0, 48, 5) for row in rows_at(s % 31 - 15, s, rng, 12)]
    replays(run(rows, True, True))
