"""The gradient module: bits of its golden model, cycles by formula, stalls, resets, and VHDL."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from framing_checks import check_told_until_start
from gradient_cases import SINKS, Case, case, random_case, small

from block_bench import BlockBench, Recorded, Replays
from merp.hdl.fcnn.stream_gradient import stream_gradient
from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.gradient_cycles import gradient_cycles
from merp.models.machines.fcnn.params.gradient_registers import GradientRun
from merp.models.machines.fcnn.params.grid import Grid
from merp.models.machines.fcnn.params.stream_design import StreamDesign
from merp.testbenches.fcnn.gradient_bench import arguments
from merp.testbenches.fcnn.stream_player import SLACK, StreamPlayer


def words_of(run: GradientRun) -> tuple[int, int, int]:
    return run.map_words, run.delta_words, run.gradient_words


def play(
    cases: Sequence[Case], rates: Mapping[str, float] | None = None, seed: int = 0
) -> Recorded:
    design = cases[0].run.grid.design
    paces = {name: 1 / rate - 1 for name, rate in (rates or {}).items()}
    cycles = 0
    for each in cases:
        run = each.run
        words = dict(zip((*SINKS, "source"), words_of(run), strict=True))
        waits = sum(pace * words[name] for name, pace in paces.items())
        cycles += gradient_cycles(run).total + SLACK + int(1.2 * waits)
    player = StreamPlayer([each.job for each in cases], ("source",), rates=rates or {}, seed=seed)
    return BlockBench(stream_gradient, **arguments(design)).run(player, cycles)


def check(cases: Sequence[Case], trace: Recorded) -> None:
    wanted = [each.wanted for each in cases]
    words = trace.words("source")
    assert [data for data, _ in words] == [word for each in wanted for word in each]
    ends = [int(i == len(each) - 1) for each in wanted for i in range(len(each))]
    assert [last for _, last in words] == ends
    assert not any(trace.column("framing_error"))
    assert trace.column("done")[-1]


def cycles_of(trace: Recorded) -> list[tuple[int, int, int, int]]:
    """Total, issue, drain and useful of each run, counted on the pins; no cycle has two causes."""
    names = ("issue", "drain", "stall_output", "stall_map", "stall_delta")
    activity = trace.columns(*(f"activity_{name}" for name in names))
    useful = trace.column("activity_useful")
    starts = [t for t, start in enumerate(trace.column("start")) if start]
    found = []
    for begin, after in zip(starts, [*starts[1:], len(useful)], strict=True):
        own = activity[begin + 1 : after]
        causes = [sum(column) for column in zip(*own, strict=True)]
        total = sum(1 for row in own if any(row))
        assert total == sum(causes)
        done = trace.column("done")[begin + 1 : after]
        assert done == [0] * total + [1] * (len(done) - total)
        found.append((total, causes[0], causes[1], sum(useful[begin + 1 : after])))
    return found


@pytest.mark.parametrize(
    ("k", "lanes", "maps"),
    [(1, 1, 1), (1, 2, 3), (2, 2, 1), (2, 1, 2),
     *(pytest.param(3, lanes, maps, marks=pytest.mark.full)
       for lanes in (1, 2, 4) for maps in (1, 2, 3))],
)  # fmt: skip
def test_random_shapes(k: int, lanes: int, maps: int) -> None:
    rng = Random(f"{k} {lanes} {maps}")
    design = small(k, lanes, maps, add_latency=rng.choice((1, 2)))
    cases = [random_case(design, rng) for _ in range(4 if k < 3 else 6)]
    trace = play(cases)
    check(cases, trace)
    assert cycles_of(trace) == [tuple(gradient_cycles(each.run)) for each in cases]


def test_usual_latencies_in_binary32() -> None:
    design = small(2, 2, 1, fmt=BINARY32, mul_latency=3, add_latency=4)
    shape = Shape(n=2, m=1, k=2, rows=5, columns=4, pad=1)
    cases = [case(design, shape, 4, Random(1))]
    trace = play(cases)
    check(cases, trace)
    assert cycles_of(trace) == [tuple(gradient_cycles(cases[0].run))]


@pytest.mark.parametrize(
    "rates",
    [
        {"sink_map": 0.5}, {"sink_delta": 0.5}, {"source": 0.5},
        {"sink_map": 0.7, "sink_delta": 0.8, "source": 0.6},
    ],
)  # fmt: skip
def test_bits_do_not_depend_on_who_waits(rates: dict[str, float]) -> None:
    rng = Random(str(rates))
    design = small(2, 2, 1)
    shape = Shape(n=2, m=2, k=2, rows=3, columns=3, pad=(1, 0, 0, 1))
    cases = [case(design, shape, 4, rng)]
    trace = play(cases, rates, seed=2)
    check(cases, trace)
    found = cycles_of(trace)
    for (_, issue, _, useful), each in zip(found, cases, strict=True):
        wanted = gradient_cycles(each.run)
        assert (issue, useful) == (wanted.issue, wanted.useful)


def test_an_output_that_waits_stops_the_walk() -> None:
    """The next drain does not begin before its gradients have places, and no gradient is lost."""
    design = small(2, maps=2)
    shape = Shape(n=5, m=2, k=2, rows=3, columns=3)
    cases = [case(design, shape, 1, Random(3))]
    rates = {"source": 0.1}
    trace = play(cases, rates, seed=1)
    assert any(trace.column("activity_stall_output"))
    check(cases, trace)


def test_the_drain_reads_on_after_the_last_gradient() -> None:
    """Missing maps take longer than the last gradient: the next run has to wait for them."""
    design, rng = small(3, maps=2), Random(8)
    shape = Shape(n=1, m=3, k=3, rows=3, columns=3)
    cases = [case(design, shape, 1, rng), case(design, replace(shape, m=4), 1, rng)]
    trace = play(cases)
    check(cases, trace)
    assert cycles_of(trace) == [tuple(gradient_cycles(each.run)) for each in cases]


def test_short_passes_do_not_wait_for_places() -> None:
    """Gradients of a pass are still in the tree while the next one ends."""
    design = small(1, 4, 4, add_latency=2)
    cases = [case(design, Shape(n=4, m=4, k=1, rows=1, columns=1), 4, Random(9))]
    trace = play(cases)
    check(cases, trace)
    assert cycles_of(trace) == [tuple(gradient_cycles(cases[0].run))]


def test_lanes_have_an_order_in_the_tree() -> None:
    """1 + 2^30 in one lane and -2^30 in another: the order of the terms decides the sum."""
    design = small(1, 4, fmt=BINARY32)
    shape = Shape(n=1, m=1, k=1, rows=1, columns=1)
    big, one = 0x4E800000, BINARY32.one
    x = np.full((4, 1, 1, 1), one, np.uint32)
    delta = np.array([big, one, big ^ BINARY32.sign_bit, one], np.uint32).reshape(4, 1, 1, 1)
    for order in ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2)):
        one_case = Case(GradientRun(Grid(shape, 4, design)), x, delta[list(order)])
        check([one_case], play([one_case]))
    # With three lanes, the last one is added alone.
    design = small(1, 3, fmt=BINARY32)
    delta = np.array([big, big ^ BINARY32.sign_bit, one], np.uint32).reshape(3, 1, 1, 1)
    last_alone = Case(GradientRun(Grid(shape, 3, design)), x[:3], delta)
    assert last_alone.wanted == [one, one]
    check([last_alone], play([last_alone]))


def test_a_tap_outside_the_map_is_zero_and_counts() -> None:
    """+0 times a delta: a zero with its sign, and NaN under an infinite one."""
    design, fmt = small(2), BFLOAT16
    shape = Shape(n=1, m=1, k=2, rows=1, columns=1, pad=1)
    x = np.full((1, 1, 1, 1), fmt.one, np.uint32)
    delta = np.array([fmt.inf, fmt.one, fmt.one, fmt.one], np.uint32).reshape(1, 2, 2, 1)
    one = Case(GradientRun(Grid(shape, 1, design)), x, delta)
    assert one.wanted == [fmt.inf, fmt.nan, fmt.nan, fmt.nan, fmt.inf]
    check([one], play([one]))


def test_a_word_that_is_wrongly_last_is_told() -> None:
    design = small(1)
    shape = Shape(n=1, m=1, k=1, rows=2, columns=2)
    good = case(design, shape, 1, Random(5)).job
    for name in SINKS:
        bad = replace(good, words={**good.words, name: [*good.words[name], 0]})
        player = StreamPlayer([bad, good], ("source",))
        trace = BlockBench(stream_gradient, **arguments(design)).run(player, 90)
        check_told_until_start(trace, "framing_error")
        assert trace.column("done")[-1]


def session(design: StreamDesign) -> Callable[[int], StreamPlayer]:
    def begin(number: int) -> StreamPlayer:
        rng = Random(number)
        jobs = [random_case(design, rng).job for _ in range(2)]
        rates = {"sink_map": 0.9, "sink_delta": 0.9, "source": 0.7}
        return StreamPlayer(jobs, ("source",), rates=rates, seed=number)

    return begin


def test_a_reset_leaves_nothing_behind() -> None:
    design = small(2, 1, 2)
    BlockBench(stream_gradient, **arguments(design)).as_new_after_reset(
        session(design), range(12, 100, 40), 90,
        payload={"source_valid": "source_data source_last"},
    )  # fmt: skip


@pytest.mark.parametrize("fmt", [BFLOAT16, pytest.param(BINARY32, marks=pytest.mark.full)])
@pytest.mark.ghdl
def test_stream_gradient_vhdl(replays: Replays, fmt: FloatFormat) -> None:
    design = small(2, 2, 2, fmt=fmt)
    cases = [random_case(design, Random(7)) for _ in range(2)]
    trace = play(cases, {"sink_map": 0.9, "sink_delta": 0.8, "source": 0.8})
    check(cases, trace)
    replays(trace)
