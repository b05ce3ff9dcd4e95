"""Pooling windows that hang over an edge by their stride or more: maps, masks, exported HDL."""

from dataclasses import replace

import numpy as np
import pytest

from block_bench import Replays, columns
from merp.models.arithmetic.relu import relu
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat
from merp.models.base.shape import Padding, Pool, Shape
from merp.models.golden.pooling import pool_maps
from merp.models.golden.state import keep_state, packed
from merp.models.machines.cnn_merp.params.sizing import size_design
from merp.testbenches.block.trace import Trace
from merp.testbenches.cnn_merp.super_layer_bench import SuperLayerRun, run_super_layer
from super_layer_runs import SPECIAL, shape_for, spans_of, walked

NAMED: list[tuple[int, int, Padding]] = [
    (2, 1, (0, 0, 1, 1)), (3, 1, 1), (3, 1, 2), (5, 2, 4), (3, 2, 2), (4, 1, (3, 0, 0, 3)),
    (5, 2, (0, 3, 4, 1)),
]  # fmt: skip


def sums_for(size: tuple[int, ...], seed: int, fmt: FloatFormat = BINARY32) -> Bits:
    """Few distinct values (ties), and special ones."""
    rng = np.random.default_rng([seed, *size])
    words = rng.choice([-3.5, -2.0, -1.0, 0.1, 1.0, 2.5], size).astype(np.float32).view(np.uint32)
    words = np.where(rng.random(size) < 0.2, rng.choice(np.array(SPECIAL, np.uint32), size), words)
    return (words >> (32 - fmt.width)).astype(np.uint32)


def run_of(shape: Shape, images: int = 2, seed: int = 0, **how: object) -> SuperLayerRun:
    sums = sums_for((images, shape.rows, shape.columns, shape.m), seed)
    return SuperLayerRun(shape, sums, **how)  # type: ignore[arg-type]


def transfers(trace: Trace, stream: str, begin: int, end: int) -> list[tuple[int, int]]:
    """Words of a run and whether each is the last."""
    pins = columns(trace, *(f"out_{stream}_{pin}" for pin in ("valid", "ready", "data", "last")))
    return [(data, last) for valid, ready, data, last in pins[begin:end] if valid and ready]


def marked(words: bytes | list[int]) -> list[tuple[int, int]]:
    return [(int(word), int(index == len(words) - 1)) for index, word in enumerate(words)]


def play(runs: list[SuperLayerRun], **chosen: object) -> Trace:
    """Each run's maps and masks, and every place for sums given back."""
    shapes = [run.shape for run in runs]
    given = {"n_cu": 2, "r": 1, "add_latency": 1, "mul_latency": 1, "max_images": 2} | chosen
    design = size_design(shapes, **given)
    assert design.far
    budget = 0
    for run in runs:
        beats = -(-run.shape.m // design.n_cu) * design.n_cu
        words = run.shape.pooled_rows * run.shape.pooled_columns * run.shape.m * len(run.sums)
        budget += 2 * (walked(run) * max(beats, design.pool_latency) + 9 * words) + 200
    trace = run_super_layer(design, runs, budget)
    done, credit = trace.column("done"), trace.column("credit")
    for (a, b), run in zip(spans_of(trace, len(runs)), runs, strict=True):
        shape, fmt = run.shape, design.fmt
        activation = relu(run.sums, fmt) if shape.relu else run.sums
        wanted = pool_maps(activation, shape.pool, fmt).reshape(-1).tolist()
        assert transfers(trace, "maps", a, b) == marked(wanted), shape
        if design.state:
            state = packed(keep_state(activation, shape, "pooled", fmt), shape, fmt)
            assert transfers(trace, "state", a, b) == marked(state), shape
        rises = a + 1 + done[a + 1 : b].index(1)
        assert sum(credit[a : rises + 1]) == len(run.words(design))
    return trace


@pytest.mark.parametrize("state", [False, True])
@pytest.mark.parametrize("kind", ["max", "average"])
def test_named_windows(kind: str, state: bool) -> None:
    """On a map, on one of a single column, and on one smaller than a window; with stalls."""
    runs = []
    for index, (window, stride, pad) in enumerate(NAMED):
        pool = Pool(kind=kind, window=window, stride=stride, pad=pad)
        for rows, wide in ((5, 4), (4, 1), (1, 1), (2, 3)):
            if pool.rows(rows) and pool.columns(wide):
                relu = bool((index + rows) % 2)
                shape = shape_for(1 + index % 3, rows, wide, pool, relu)
                accept = (1,) if wide % 2 else (1, 0, 1)
                runs.append(run_of(shape, 1 + rows % 2, index, accept=accept, offer=(1, 1, 0)))
    play(runs, state=state, r=1)


@pytest.mark.parametrize("average", [False, True])
def test_after_a_reset_behind_the_sums(average: bool) -> None:
    """Each run is broken off in another cycle; the next one begins anew."""
    kind = "average" if average else "max"
    shape = shape_for(3, 2, 2, Pool(kind=kind, window=3, stride=1, pad=2))
    play([run_of(shape, 1, at, reset_at=at) for at in range(9, 60, 4)], state=True, r=2)


def test_in_bfloat16_with_whole_windows_before_and_after() -> None:
    far = shape_for(5, 4, 4, Pool(kind="average", window=3, stride=1, pad=(2, 1, 1, 2)), False)
    others = [replace(far, pool=None), replace(far, pool=Pool(window=3, stride=2, pad=1))]
    runs = [
        SuperLayerRun(shape, sums_for((2, 4, 4, 5), at, BFLOAT16))
        for at, shape in enumerate((others[0], far, others[1], far))
    ]
    play(runs, fmt=BFLOAT16, r=2, add_latency=3)


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize("average", [False, True])
def test_hdl_replays(average: bool, replays: Replays) -> None:
    kind = "average" if average else "max"
    runs = [
        run_of(shape_for(3, 3, 3, Pool(kind=kind, window=3, stride=1, pad=1)), 2, offer=(1, 1, 0)),
        run_of(shape_for(2, 2, 3, Pool(kind=kind, window=5, stride=2, pad=4), False), 1),
        run_of(shape_for(1, 4, 2, Pool(kind=kind, window=2, stride=1, pad=(0, 0, 1, 1))), 1,
               accept=(1, 0)),
    ]  # fmt: skip
    replays(play(runs, state=True, r=2), lint=True)
