"""Un-pooling of beats, computed or by a port, against the golden: bits, beats, errors, resets."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, at_random
from merp.hdl.cnn_merp.upsampling.unpool_beats import unpool_beats
from merp.hdl.cnn_merp.upsampling.wide_unpool import wide_unpool
from merp.models.arithmetic.words import to_bits
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Pool, Shape
from merp.models.golden.state import keep_state, packed
from merp.models.golden.super_layer import activated
from merp.models.golden.unpool import unpool as golden_unpool
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign, size_unpool
from merp.models.machines.cnn_merp.params.unpool_registers import UNPOOL, unpool_registers
from merp.testbenches.cnn_merp.cu_bench import joined
from merp.testbenches.cnn_merp.unpool_bench import UnpoolBenchRun, run_unpool, unpool_args

FMT = FloatFormat(4, 3)
every_block = pytest.mark.parametrize(
    "block", [wide_unpool, unpool_beats], ids=["computed", "by a port"]
)


def shape_for(pool: Pool | None, relu: bool, maps: int = 3, slope: int = 0) -> Shape:
    return Shape(n=1, m=maps, k=1, rows=5, columns=5, relu=relu, slope=slope, pool=pool)


POOLED = [
    shape_for(Pool(window=2, stride=2), relu=True),
    shape_for(Pool(kind="average", window=3, stride=2), relu=True),
    shape_for(Pool(window=3, stride=2), relu=False),
]
PLAIN = [shape_for(None, relu=True), shape_for(None, relu=False, maps=1)]


def design_of(shapes: list[Shape]) -> UnpoolDesign:
    return size_unpool(shapes, max_images=2, fmt=FMT, add_latency=1, mul_latency=1)


def run_of(shape: Shape, seed: int, **how: Any) -> UnpoolBenchRun:
    """Two images of words of few bits, zeros among them."""
    rng = np.random.default_rng(seed)
    words = [
        rng.integers(0, 1 << FMT.width, (2, rows, columns, shape.m), np.uint32)
        for rows, columns in (
            (shape.out_rows, shape.out_columns),
            (shape.pooled_rows, shape.pooled_columns),
        )
    ]
    activation = activated(words[0], shape, FMT)
    return UnpoolBenchRun(shape, words[1], keep_state(activation, shape, "pooled", FMT), **how)


def whole_beats(trace: Recorded, name: str, begin: int, end: int) -> list[int]:
    """Cycles of a stream's transfers between two cycles."""
    pins = zip(trace.column(f"{name}_valid"), trace.column(f"{name}_ready"), strict=True)
    return [t for t, (valid, ready) in enumerate(pins) if begin < t < end and valid and ready]


def spans(trace: Recorded) -> list[tuple[int, int]]:
    """Each run that was not reset: its start, and the next one or the end."""
    starts = [cycle for cycle, start in enumerate(trace.column("start")) if start]
    resets = [cycle for cycle, rst in enumerate(trace.column("rst")) if rst]
    pairs = pairwise([*starts, len(trace.rows)])
    return [(a, b) for a, b in pairs if not any(a < cycle < b for cycle in resets)]


def play(
    block: Callable[..., Any],
    runs: list[UnpoolBenchRun],
    lanes: int,
    design: UnpoolDesign | None = None,
    cycles: int = 6000,
) -> Recorded:
    """Play runs; every beat of every run, and when it is done."""
    kept = block is wide_unpool
    design = design or design_of([run.shape for run in runs])
    trace = run_unpool(design, runs, cycles, block, lanes, kept)
    data, last, done = (trace.column(name) for name in ("source_data", "source_last", "done"))
    found = spans(trace)
    assert len(found) == len(runs)
    for (begin, end), run in zip(found, runs, strict=True):
        words = golden_unpool(run.delta, run.state, run.shape, FMT).reshape(-1).tolist()
        beats = [words[at : at + lanes] for at in range(0, len(words), lanes)]
        cycles_out = whole_beats(trace, "source", begin, end)
        assert len(cycles_out) == len(beats)
        for t, beat in zip(cycles_out, beats, strict=True):
            counted = (1 << len(beat) * FMT.width) - 1
            assert data[t] & counted == joined(beat, FMT.width)
            assert last[t] == (t == cycles_out[-1])
            assert not kept or trace.column("source_keep")[t] == (1 << len(beat)) - 1
        assert done[begin + 1 : end].index(1) + begin + 1 == cycles_out[-1] + 1
        words_in = -(-run.delta.size // lanes)
        assert len(whole_beats(trace, "sink", begin, end)) == words_in
        state = len(packed(run.state, run.shape, FMT))
        assert len(whole_beats(trace, "sink_state", begin, end)) == state
    return trace


@pytest.mark.parametrize(
    ("block", "lanes"),
    [(wide_unpool, 8), (unpool_beats, 2)],
    ids=["computed", "by a port"],
)
def test_beats_of_every_kind(block: Callable[..., Any], lanes: int) -> None:
    """Runs of all modes back to back, with gaps and stalls, and resets amid them."""
    slow = {"offer": (1, 0, 1), "offer_state": (0, 1), "accept": (1, 1, 0)}
    runs = [run_of(shape, i) for i, shape in enumerate([*POOLED, *PLAIN])]
    runs += [
        run_of(shape, i, **slow, reset_at=at)
        for i, (shape, at) in enumerate(
            [(POOLED[1], 9), (PLAIN[0], 4), (POOLED[0], 25), (POOLED[2], None), (PLAIN[1], 2)]
        )
    ]
    trace = play(block, runs, lanes)
    assert not any(trace.column("framing_error"))


@pytest.mark.parametrize(
    ("block", "lanes"),
    [(wide_unpool, 4), (unpool_beats, 8)],
    ids=["computed", "by a port"],
)
@pytest.mark.parametrize("kinds", ["pooled", "plain"])
def test_beats_of_leaky_relu(block: Callable[..., Any], lanes: int, kinds: str) -> None:
    """Next to runs of ReLU and of none, with stalls and resets; also where nothing is pooled."""
    slow = {"offer": (1, 0, 1), "offer_state": (0, 1), "accept": (1, 1, 0)}
    slope = int(to_bits(0.75, FMT))
    shapes = [*PLAIN, shape_for(None, True, slope=slope), shape_for(None, True, 1, slope)]
    if kinds == "pooled":
        shapes += [replace(each, slope=slope) for each in POOLED if each.relu] + POOLED
    runs = [run_of(shape, i) for i, shape in enumerate(shapes)]
    runs += [
        run_of(shape, i, **slow, reset_at=at)
        for i, (shape, at) in enumerate([*zip(shapes, (9, 4, 25, 13), strict=False)] * 2)
    ]
    trace = play(block, runs, lanes)
    assert not any(trace.column("framing_error"))


@every_block
def test_where_nothing_is_pooled(block: Callable[..., Any]) -> None:
    """A design for layers without pooling: a beat per cycle."""
    trace = play(block, [run_of(shape, i) for i, shape in enumerate(PLAIN)], 4)
    for begin, end in spans(trace):
        out = whole_beats(trace, "source", begin, end)
        # A byte of state has the masks of two beats.
        assert out[-1] - out[0] + 1 == len(out)


@every_block
@pytest.mark.parametrize("pooled", [True, False])
def test_framing_errors(block: Callable[..., Any], pooled: bool) -> None:
    """A last at the wrong place of the state, or of the beats by a port; until the next start."""
    shape, lanes = (POOLED if pooled else PLAIN)[0], 4
    right = run_of(shape, 1)
    wrong = [run_of(shape, 1, lasts=(None, marks)) for marks in ((), (0,))]
    if block is unpool_beats:
        wrong += [run_of(shape, 1, lasts=(marks, None)) for marks in ((), (0,))]
    runs = [each for one in wrong for each in (one, right)]
    trace = play(block, runs, lanes, design_of([POOLED[0], PLAIN[0]]))
    errors = trace.column("framing_error")
    for (begin, end), run in zip(spans(trace)[:-1], runs[:-1], strict=True):
        assert errors[end] == (run is not right)
        assert not errors[begin + 1]


@pytest.mark.sample(2)
@every_block
@pytest.mark.parametrize(("before", "after"), [(0, 1), (1, 0), (0, 0)])
def test_nothing_comes_between_a_reset_and_a_start(
    block: Callable[..., Any], before: int, after: int
) -> None:
    """Whatever was on its way; then the run is the same as from power-up. 0: pooled, 1: not."""
    shapes, lanes = [POOLED[0], PLAIN[0]], 4
    design = design_of(shapes)
    prefix = f"{UNPOOL.bundle}_"
    configs = tuple(
        {
            f"config_{name.removeprefix(prefix)}": value
            for name, value in unpool_registers(shapes[kind], 3, 2, design).items()
        }
        | {"sink_keep": 15}
        for kind in (before, after)
    )
    flags = {"sink_valid": 0.9, "sink_state_valid": 0.9, "source_ready": 0.5}
    words = {"sink_data": lanes * FMT.width, "sink_state_data": 8}
    session = at_random(flags, words, configs, begin=5, pulses={"rst": 0, "start": 4})
    kept = block is wide_unpool
    payload = {"source_valid": "source_data source_last" + kept * " source_keep"}
    BlockBench(block, **unpool_args(design, lanes, kept)).as_new_after_reset(
        session, (7, 12, 18, 25, 33), 50, payload=payload
    )
