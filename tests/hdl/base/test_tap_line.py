"""The window over a stream of beats, from its definition: how long ago each element came."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.base.signals import bits, count
from merp.hdl.base.tap_line import tap_line
from merp.models.base.tap_line import TapLine

PLAIN = TapLine(k=3, width=5, max_columns=9)
SEVERAL = TapLine(k=3, width=4, lanes=2, max_step=3, max_columns=5)


def bench_for(params: TapLine) -> BlockBench:
    step = {"step": count(params.max_step)} if params.max_step > 1 else {}
    return BlockBench(
        tap_line, "clk start advance", columns=count(params.max_columns),
        sink=bits(params.beat_width), window=bits(params.window_width), params=params, **step,
    )  # fmt: skip


def play(params: TapLine, runs: list[tuple[int, int]], beats: int, rate: float = 1.0) -> Recorded:
    """Runs of ``beats`` beats each, of so many columns and beats of a column."""
    rng = Random(f"{params} {rate}")
    state = {"run": -1, "left": 0}

    def drive(cycle: int, seen: dict[str, int]) -> dict[str, int]:
        state["left"] -= seen.get("advance", 0)
        columns, step = runs[max(state["run"], 0)]
        begins = state["left"] <= 0 and state["run"] + 1 < len(runs)
        if begins:
            state.update(run=state["run"] + 1, left=beats)
            columns, step = runs[state["run"]]
        moves = not begins and state["left"] > 0 and rng.random() < rate
        return {
            "start": int(begins), "advance": int(moves), "columns": columns,
            "sink": rng.getrandbits(params.beat_width),
        } | ({"step": step} if params.max_step > 1 else {})  # fmt: skip

    return bench_for(params).run(drive, int(len(runs) * (beats + 1) / rate))


def compared(trace: Recorded, params: TapLine) -> int:
    """Compare every element that has a meaning, in every cycle; how many that are."""
    names = ("start", "advance", "columns", "sink", "window")
    steps = trace.column("step") if params.max_step > 1 else [1] * len(trace.rows)
    before: list[int] = []
    found = 0
    for start, advance, columns, sink, window, step in zip(
        *(trace.column(name) for name in names), steps, strict=True
    ):
        beats = [*before, sink]
        for place in range(0 if start else params.lanes * params.k**2):
            lane, tap = divmod(place, params.k**2)
            row, column = divmod(tap, params.k)
            ago = ((params.k - 1 - row) * columns + params.k - 1 - column) * step
            if ago < len(beats):
                wanted = beats[-1 - ago] >> (lane * params.width) & ((1 << params.width) - 1)
                assert window >> (place * params.width) & ((1 << params.width) - 1) == wanted, (
                    f"lane {lane}, row {row}, column {column}, beat {len(before)}"
                )
                found += 1
        before = [] if start else [*before, sink] if advance else before
    return found


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("lanes", [1, 2])
def test_every_size_of_small_lines(k: int, lanes: int) -> None:
    params = TapLine(k=k, width=3, lanes=lanes, max_step=2, max_columns=4)
    runs = [(columns, step) for columns in range(1, 5) for step in (1, 2)]
    trace = play(params, runs, k * 8 + 3)
    assert compared(trace, params) > len(trace.rows)


@pytest.mark.parametrize("params", [PLAIN, SEVERAL, TapLine(k=2, width=7, max_columns=1)])
def test_with_pauses(params: TapLine) -> None:
    rng = Random(3)
    runs = [(rng.randint(1, params.max_columns), rng.randint(1, params.max_step)) for _ in range(6)]
    runs[0] = params.max_columns, params.max_step
    trace = play(params, runs, 40, rate=0.6)
    assert 0 in trace.column("advance")
    assert compared(trace, params) > len(trace.rows)


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("k", 1, "2 to 11"), ("k", 12, "2 to 11"), ("lanes", 0, "1 to 32"),
        ("width", 65, "1 to 64"), ("max_step", 0, "1 to 4096"), ("max_columns", True, "1 to 4096"),
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_refused(key: str, value: int, allowed: str) -> None:
    with pytest.raises(ValueError, match=f"{key} must be a whole number from {allowed}, not"):
        TapLine(**({"k": 3, "width": 8, "max_columns": 4} | {key: value}))


@pytest.mark.ghdl
def test_tap_line_vhdl(replays: Replays) -> None:
    """With one beat to a column, in registers, it is replayed within the convolution element."""
    trace = play(SEVERAL, [(5, 3), (1, 1), (5, 1)], 40, rate=0.8)
    assert compared(trace, SEVERAL)
    replays(trace)
