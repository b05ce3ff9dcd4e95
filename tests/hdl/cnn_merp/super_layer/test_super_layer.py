"""Super layer behind the CU array: bits, order, credits and rate."""

from itertools import pairwise

import numpy as np
import pytest

from block_bench import Replays, columns
from marks import few, in_full
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.base.shape import Pool, Shape
from merp.models.golden.pooling import pool_maps
from merp.models.golden.super_layer import activated
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.block.trace import Trace
from merp.testbenches.cnn_merp.random_layers import random_hang
from merp.testbenches.cnn_merp.super_layer_bench import SuperLayerRun, run_super_layer
from super_layer_runs import (
    AROUND_SIX,
    SPECIAL,
    pattern,
    random_activation,
    shape_for,
    spans_of,
    walked,
)


def design_for(n_cu: int = 4, r: int = 2, **changes: object) -> EngineDesign:
    values = dict(
        fmt=BINARY32, k=1, n_cu=n_cu, r=r, kernel_words=1, groups=4, row_words=64, max_size=16,
        max_maps=1, max_images=4, max_stride=5, fifo_words=8, pool_window=4, pool_overlap=4,
        pool_words=160,
    )  # fmt: skip
    return EngineDesign(**(values | changes))  # type: ignore[arg-type]


def sums_for(shape: Shape, images: int, rng: np.random.Generator, fmt=BINARY32) -> Bits:
    """Normal numbers of few distinct magnitudes (ties), and every special value."""
    size = (images, shape.rows, shape.columns, shape.m)
    values = rng.choice([-3.5, -2.0, -1.0, 0.1, 1.0, 2.0, 2.5, 7.0], size).astype(np.float32)
    jitter = rng.standard_normal(size).astype(np.float32)
    words = np.where(rng.random(size) < 0.5, values, jitter).view(np.uint32)
    words = np.where(rng.random(size) < 0.15, rng.choice(np.array(SPECIAL, np.uint32), size), words)
    if fmt.width == 16:  # the upper half of binary32, subnormals apart
        words = words >> 16
    return words.astype(np.uint32)


def sums_around(shape: Shape, images: int, rng: np.random.Generator, design: EngineDesign) -> Bits:
    """The same; in a design for ReLU6, half of them are around 6."""
    words = sums_for(shape, images, rng, design.fmt)
    if not design.relu6:
        return words
    six = np.array(AROUND_SIX, np.uint32) >> 32 - design.fmt.width
    return np.where(rng.random(words.shape) < 0.5, rng.choice(six, words.shape), words)


def golden(run: SuperLayerRun, design: EngineDesign) -> list[int]:
    shape, fmt = run.shape, design.fmt
    y = activated(run.sums, shape, fmt)
    return [int(word) for word in pool_maps(y, shape.pool, fmt).reshape(-1)]


def check(design: EngineDesign, runs: list[SuperLayerRun], trace: Trace) -> None:
    """Bits and order, stream rules, credits, done; the aborted part of a reset run is skipped."""
    expected = [
        (word, int(index == len(words) - 1))
        for words in (golden(run, design) for run in runs)
        for index, word in enumerate(words)
    ]
    spans = spans_of(trace, len(runs))
    stream = columns(
        trace, "out_maps_valid", "out_maps_ready", "out_maps_data", "out_maps_last", "rst"
    )
    got = [
        (data, last)
        for a, b in spans
        for valid, ready, data, last, _ in stream[a:b]
        if valid and ready
    ]
    assert got == expected[: len(got)]
    assert len(got) == len(expected), f"{len(got)} of {len(expected)} words"
    for cycle, (now, after) in enumerate(pairwise(stream)):
        if now[0] and not now[1] and not now[4]:
            assert (after[0], *after[2:4]) == (1, *now[2:4]), f"changed in cycle {cycle + 1}"
    done, credit, pushed = (trace.column(name) for name in ("done", "credit", "sums_valid"))
    for (a, b), run in zip(spans, runs, strict=True):
        rises = a + 1 + done[a + 1 : b].index(1)
        assert not any(done[a + 1 : rises])
        assert all(done[rises:b])
        words = len(run.words(design))
        assert sum(pushed[a:b]) == sum(credit[a : rises + 1]) == words
        last_word = max(c for c in range(a, b) if stream[c][0] and stream[c][1])
        assert last_word < rises, "done before the last word"


def budget(design: EngineDesign, run: SuperLayerRun) -> int:
    shape = run.shape
    share = min(np.mean(run.offer), np.mean(run.accept))
    positions = walked(run)
    beats = -(-shape.m // design.n_cu) * -(-design.n_cu // design.r)
    work = positions * max(beats, design.pool_latency) + len(golden(run, design))
    return int(work / share) + 80 + (run.reset_at or 0)


def play(design: EngineDesign, runs: list[SuperLayerRun]) -> Trace:
    trace = run_super_layer(design, runs, sum(budget(design, run) for run in runs))
    check(design, runs, trace)
    return trace


def random_run(
    design: EngineDesign, rng: np.random.Generator, reset: bool = False
) -> SuperLayerRun:
    kinds = ("max", "average") if design.average else ("max",)
    while True:
        pool = None
        if design.pool_window > 1 and rng.random() < 0.85:
            window = int(rng.integers(1, design.pool_window + 1))
            least = -(-window // design.pool_overlap)
            pool = Pool(
                kind=str(rng.choice(kinds)),
                window=window,
                stride=int(rng.integers(least, max(least, 4) + 1)),
            )
        if pool and design.hanging:
            pool = random_hang(rng, pool, design.far)
        rows, columns = (int(side) for side in rng.integers(1, 8, 2))
        m = int(rng.integers(1, design.groups * design.n_cu + 1))
        try:
            relu = bool(rng.integers(2))
            shape = shape_for(m, rows, columns, pool, *random_activation(rng, design, relu))
        except ValueError:
            continue
        images = int(rng.integers(1, 3))
        return SuperLayerRun(
            shape,
            sums_around(shape, images, rng, design),
            pattern(rng, 0.2),
            pattern(rng, 0.2),
            int(rng.integers(2, 60)) if reset else None,
        )


DESIGNS = {
    "plain": design_for(3, 2, pool_window=1, pool_overlap=1, pool_words=1),
    "plain, r=1": design_for(4, 1, pool_window=1, pool_overlap=1, pool_words=1),
    "max": design_for(4, 2, pool_overlap=3),
    "max, r=n": design_for(3, 3, pool_overlap=2),
    "max, r=1": design_for(2, 1, pool_overlap=4),
    "average": design_for(5, 2, average=True, pool_overlap=2, add_latency=4, mul_latency=3),
    "average, r=1": design_for(3, 1, average=True, pool_overlap=1, add_latency=1, mul_latency=1),
    "bfloat16": design_for(
        4, 3, fmt=BFLOAT16, average=True, pool_overlap=2, add_latency=2, mul_latency=2
    ),
    "max, hanging": design_for(3, 2, pool_overlap=3, hanging=True),
    "average, hanging": design_for(
        2, 1, average=True, pool_overlap=2, add_latency=1, mul_latency=1, hanging=True
    ),
    "plain, six": design_for(3, 2, relu6=True, pool_window=1, pool_overlap=1, pool_words=1),
    "max, six": design_for(4, 2, relu6=True, pool_overlap=3),
    "average, six": design_for(
        4, 3, relu6=True, fmt=BFLOAT16, average=True, pool_overlap=2, add_latency=2, mul_latency=2
    ),
    "max, far": design_for(3, 2, pool_overlap=4, hanging=True, far=True),
    "average, far": design_for(
        2, 1, average=True, pool_overlap=3, add_latency=2, mul_latency=1, hanging=True, far=True
    ),
    "max, far, leaky": design_for(
        3, 2, pool_overlap=4, hanging=True, far=True, leaky=True, mul_latency=2
    ),
    "average, far, leaky": design_for(
        2, 1, average=True, pool_overlap=3, add_latency=2, hanging=True, far=True, leaky=True
    ),
    "plain, leaky": design_for(
        3, 2, leaky=True, mul_latency=1, pool_window=1, pool_overlap=1, pool_words=1
    ),
    "max, leaky": design_for(4, 2, leaky=True, pool_overlap=3, mul_latency=3),
    "max, leaky or six": design_for(2, 1, leaky=True, relu6=True, pool_overlap=2, mul_latency=1),
    "average, leaky": design_for(
        4, 3, leaky=True, fmt=BFLOAT16, average=True, pool_overlap=2, add_latency=2, mul_latency=2
    ),
}


LEAKY = [name for name in DESIGNS if "leaky" in name]


@pytest.mark.parametrize("seed", [0, *in_full(1)])
@pytest.mark.parametrize(
    "name",
    few(
        DESIGNS,
        "plain",
        "max, r=n",
        "average, r=1",
        "average, hanging",
        "max, far",
        "average, far",
        "max, six",
        *LEAKY,
    ),
)
def test_random_runs_match_golden(name: str, seed: int) -> None:
    design = DESIGNS[name]
    rng = np.random.default_rng([seed, *name.encode()])
    play(design, [random_run(design, rng, reset=index == 1) for index in range(3)])


def run_of(
    design: EngineDesign, shape: Shape, images: int = 1, **pressure: object
) -> SuperLayerRun:
    sums = sums_for(shape, images, np.random.default_rng(shape.m), design.fmt)
    return SuperLayerRun(shape, sums, **pressure)  # type: ignore[arg-type]


@pytest.mark.parametrize("add_latency", [1, 5])
@pytest.mark.parametrize(("rows", "columns"), [(5, 5), (9, 1), (1, 9)])
def test_a_partial_result_is_never_read_too_early(
    add_latency: int, rows: int, columns: int
) -> None:
    """Positions of one beat, each adding to the result of the one before."""
    design = design_for(2, 2, average=True, pool_overlap=2, add_latency=add_latency)
    window = min(rows, columns, 3)
    play(design, [run_of(design, shape_for(2, rows, columns, Pool(kind="average", window=w,
                                                                  stride=1 if w < 3 else 2)), 2)
                  for w in {1, window}])  # fmt: skip


@pytest.mark.sample(4)
@pytest.mark.parametrize("beats", [1, 2, 3, 4])
@pytest.mark.parametrize("average", [False, True])
def test_a_partial_result_is_found_while_it_is_written(average: bool, beats: int) -> None:
    """Positions as close as they may be, their windows the same, or others of the same memory."""
    design = design_for(1, 1, average=average, pool_overlap=3, add_latency=1)
    kind = "average" if average else "max"
    runs = []
    for window, stride in ((3, 1), (2, 2), (3, 2)):
        shape = shape_for(beats, 4, 6, Pool(kind=kind, window=window, stride=stride), False)
        # Each row greater than the one before and falling: a partial result that is one element
        # late, or that of a neighbour, never gives the same maximum.
        values = 16.0 * np.arange(4)[:, None] - np.arange(6) + 8
        maps = np.repeat(values[None, :, :, None], beats, axis=3).astype(np.float32)
        runs.append(SuperLayerRun(shape, maps.view(np.uint32)))
    trace = play(design, runs)
    taken = [cycle for cycle, credit in enumerate(trace.column("credit")) if credit]
    distances = [after - before for before, after in zip(taken, taken[beats:], strict=False)]
    assert distances.count(max(beats, design.pool_latency)) > len(distances) // 2


@pytest.mark.parametrize(("window", "stride"), [(1, 3), (2, 5), (2, 2), (3, 3), (4, 2), (3, 1)])
def test_gaps_and_dropped_windows(window: int, stride: int) -> None:
    design = design_for(2, 1, pool_overlap=3)
    shapes = [shape_for(3, 7, 7 + c, Pool(window=window, stride=stride), False) for c in (0, 1)]
    # Sums of the dropped rows arrive after the last word has left.
    play(design, [run_of(design, shapes[0], 2), run_of(design, shapes[1], offer=(1, 0, 0, 0, 0))])


@pytest.mark.parametrize("average", [False, True])
def test_layers_without_pooling_may_exceed_the_pooling_memories(average: bool) -> None:
    design = design_for(4, 1, average=average, pool_words=8, pool_window=2, pool_overlap=1)
    pooled = shape_for(2, 4, 8, Pool(window=2, stride=2))
    play(design, [run_of(design, s) for s in (pooled, shape_for(15, 3, 3, None), pooled)])


@pytest.mark.parametrize("part", range(2))
def test_reset_in_mid_stream(part: int) -> None:
    """What was on its way when the reset came must not appear in the next run."""
    design = design_for(4, 2, average=True, pool_overlap=2, add_latency=2)
    shape = shape_for(5, 3, 3, Pool(kind="average", window=2, stride=1))
    resets = (*range(2, 14), 16, 19, 23, 31, 40)
    play(design, [run_of(design, shape, reset_at=at, accept=(1, 1, 0)) for at in resets[part::2]])


def output_cycles(trace: Trace) -> tuple[int, int]:
    """First and last cycle of the stream's transfers."""
    pins = columns(trace, "out_maps_valid", "out_maps_ready")
    cycles = [cycle for cycle, (valid, ready) in enumerate(pins) if valid and ready]
    return cycles[0], cycles[-1]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("kind", "r"), [
    ("plain", 1), ("plain", 2), ("plain", 3), ("plain", 8),
    ("max", 1), ("max", 2), ("max", 3), ("average", 1), ("average", 2),
])  # fmt: skip
def test_a_word_per_cycle_without_pooling(kind: str, r: int) -> None:
    """Every beat gives results: 128 maps, as AlexNet's conv2 has in a group."""
    window, overlap = {"plain": (1, 1), "max": (3, 2), "average": (3, 1)}[kind]
    design = design_for(
        8, r, groups=16, fifo_words=16, pool_window=window, pool_overlap=overlap,
        average=kind == "average",
    )  # fmt: skip
    shape = shape_for(128 if kind == "plain" else 64, 2, 3, None)
    first, last = output_cycles(play(design, [run_of(design, shape)]))
    assert last - first + 1 == shape.m * 6


@pytest.mark.parametrize("r", [1, 2, 4])
def test_rate_with_pooling(r: int) -> None:
    """Positions that close a window cost m cycles on the stream, the others m / r beats."""
    design = design_for(8, r, groups=2, fifo_words=16, pool_window=3, pool_overlap=2)
    shape = shape_for(16, 7, 7, Pool(window=3, stride=2))
    trace = play(design, [run_of(design, shape)])
    started = trace.column("sums_valid").index(1)
    cycles = trace.column("done").index(1) - started
    closing = 9 * 16
    # A burst of results overlaps with the beats after it as far as the result FIFO holds them.
    assert cycles <= closing + (49 - 9) * 16 // r + 16


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize("name", few(["plain", "max, r=n", "average", "bfloat16"], "max, r=n"))
def test_vhdl_replays(name: str, replays: Replays) -> None:
    design = DESIGNS[name]
    kind = "average" if design.average else "max"
    pool = Pool(kind=kind, window=3, stride=2) if design.pool_window > 1 else None
    runs = [
        run_of(design, shape_for(2 * design.n_cu - 1, 4, 5, pool), reset_at=25, accept=(1, 0, 1)),
        run_of(design, shape_for(design.n_cu, 2, 2, None, False), images=2),
    ]
    replays(play(design, runs), lint=True)


@pytest.mark.ghdl
def test_vhdl_replays_with_small_pooling_memories(replays: Replays) -> None:
    design = design_for(4, 1, pool_words=8, pool_window=2, pool_overlap=1)
    pooled = shape_for(2, 4, 8, Pool(window=2, stride=2))
    replays(play(design, [run_of(design, s) for s in (shape_for(15, 2, 2, None), pooled)]))
