"""State for the way back beside the maps: bytes, stream rules, credits, and no cycle lost."""

from dataclasses import replace

import numpy as np
import pytest

from block_bench import Replays, columns
from marks import few, in_full, rows_in_full
from merp.hdl.cnn_merp.super_layer.super_layer import super_layer
from merp.hdl.cnn_merp.super_layer.super_layer_ports import OutputStreams
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.base.shape import Pool, Shape
from merp.models.golden.pooling import pool_maps
from merp.models.golden.state import keep_state, packed
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

Word = tuple[int, int]


def design_for(n_cu: int = 4, r: int = 2, **changes: object) -> EngineDesign:
    values = dict(
        fmt=BINARY32, k=1, n_cu=n_cu, r=r, kernel_words=1, groups=4, row_words=64, max_size=16,
        max_maps=1, max_images=4, max_stride=5, fifo_words=8, pool_window=4, pool_overlap=4,
        pool_words=64, state=True,
    )  # fmt: skip
    return EngineDesign(**(values | changes))  # type: ignore[arg-type]


PLAIN: dict[str, object] = dict(pool_window=1, pool_overlap=1, pool_words=1)
DESIGNS = {
    "plain": design_for(3, 2, **PLAIN),
    "plain, r=1": design_for(4, 1, **PLAIN),
    "max": design_for(4, 2, pool_overlap=3),
    "max, r=n": design_for(3, 3, pool_overlap=2),
    "max, r=1": design_for(2, 1, pool_overlap=4),
    "max, wide": design_for(2, 2, pool_window=5, pool_overlap=2),
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
    "average, leaky": design_for(
        4, 3, leaky=True, fmt=BFLOAT16, average=True, pool_overlap=2, add_latency=2, mul_latency=2
    ),
}

LEAKY = [name for name in DESIGNS if "leaky" in name]


def sums_for(shape: Shape, images: int, rng: np.random.Generator, fmt=BINARY32) -> Bits:
    """Few distinct magnitudes (ties), and every special value, in runs of one sign or mixed."""
    size = (images, shape.rows, shape.columns, shape.m)
    values = rng.choice([-3.5, -2.0, -1.0, 0.1, 1.0, 2.0, 2.5], size).astype(np.float32)
    words = values.view(np.uint32)
    if rng.random() < 0.3:
        words = words | np.uint32(0x80000000)
    words = np.where(rng.random(size) < 0.3, rng.choice(np.array(SPECIAL, np.uint32), size), words)
    if fmt.width == 16:  # the upper half of binary32
        words = words >> 16
    return words.astype(np.uint32)


def sums_around(shape: Shape, images: int, rng: np.random.Generator, design: EngineDesign) -> Bits:
    """The same; in a design for ReLU6, half of them are around 6."""
    words = sums_for(shape, images, rng, design.fmt)
    if not design.relu6:
        return words
    six = np.array(AROUND_SIX, np.uint32) >> 32 - design.fmt.width
    return np.where(rng.random(words.shape) < 0.5, rng.choice(six, words.shape), words)


def golden(run: SuperLayerRun, design: EngineDesign) -> tuple[list[Word], list[Word]]:
    """Words of the maps and bytes of the state, each with its last."""
    shape, fmt = run.shape, design.fmt
    activation = activated(run.sums, shape, fmt)
    y = pool_maps(activation, shape.pool, fmt)
    state = packed(keep_state(activation, shape, "pooled", fmt), shape, fmt)
    return marked(y.reshape(-1).tolist()), marked(state)


def marked(words: bytes | list[int]) -> list[Word]:
    return [(int(word), int(index == len(words) - 1)) for index, word in enumerate(words)]


def transfers(trace: Trace, stream: str, begin: int, end: int) -> dict[int, Word]:
    """Words of a stream by cycle; stream rules are checked."""
    pins = columns(
        trace, *(f"out_{stream}_{pin}" for pin in ("valid", "ready", "data", "last")), "rst"
    )
    for cycle in range(begin, end - 1):
        now, after = pins[cycle], pins[cycle + 1]
        if now[0] and not now[1] and not now[4]:
            assert (after[0], *after[2:4]) == (1, *now[2:4]), f"{stream} changed in {cycle + 1}"
    return {c: pins[c][2:4] for c in range(begin, end) if pins[c][0] and pins[c][1]}


def check(design: EngineDesign, runs: list[SuperLayerRun], trace: Trace) -> None:
    """Each run's words and bytes, credits, done; the aborted part of a reset run is skipped."""
    spans = spans_of(trace, len(runs))
    done, credit = trace.column("done"), trace.column("credit")
    for (a, b), run in zip(spans, runs, strict=True):
        maps, state = golden(run, design)
        words, found = transfers(trace, "maps", a, b), transfers(trace, "state", a, b)
        assert list(words.values()) == maps, run.shape
        assert list(found.values()) == state, run.shape
        rises = a + 1 + done[a + 1 : b].index(1)
        assert max((*words, *found)) < rises
        assert all(done[rises:b])
        assert sum(credit[a : rises + 1]) == len(run.words(design))


def budget(design: EngineDesign, run: SuperLayerRun) -> int:
    """Cycles within which a run must end: each stream at its own share, one after the other."""
    maps, state = golden(run, design)
    beats = -(-run.shape.m // design.n_cu) * -(-design.n_cu // design.r)
    work = walked(run) * max(beats, design.pool_latency) / np.mean(run.offer)
    readers = len(maps) / np.mean(run.accept) + len(state) / max(0.01, np.mean(run.accept_state))
    return int(2 * (work + readers)) + 120 + (run.reset_at or 0)


def play(design: EngineDesign, runs: list[SuperLayerRun]) -> Trace:
    trace = run_super_layer(design, runs, sum(budget(design, run) for run in runs))
    check(design, runs, trace)
    return trace


def run_of(
    design: EngineDesign, shape: Shape, images: int = 1, **pressure: object
) -> SuperLayerRun:
    sums = sums_for(shape, images, np.random.default_rng(shape.m), design.fmt)
    return SuperLayerRun(shape, sums, **pressure)  # type: ignore[arg-type]


def random_run(
    design: EngineDesign, rng: np.random.Generator, reset: bool = False
) -> SuperLayerRun:
    kinds = ("max", "average") if design.average else ("max",)
    while True:
        pool = None
        if design.pool_window > 1 and rng.random() < 0.85:
            window = int(rng.integers(1, design.pool_window + 1))
            least = -(-window // design.pool_overlap)
            stride = int(rng.integers(least, max(least, 4) + 1))
            pool = Pool(kind=str(rng.choice(kinds)), window=window, stride=stride)
        if pool and design.hanging:
            pool = random_hang(rng, pool, design.far)
        rows, columns = (int(side) for side in rng.integers(1, 8, 2))
        m = int(rng.integers(1, design.groups * design.n_cu + 1))
        try:
            relu = bool(rng.random() < 0.7)
            shape = shape_for(m, rows, columns, pool, *random_activation(rng, design, relu))
        except ValueError:
            continue
        images = int(rng.integers(1, 3))
        return SuperLayerRun(
            shape,
            sums_around(shape, images, rng, design),
            offer=pattern(rng),
            accept=pattern(rng),
            reset_at=int(rng.integers(2, 60)) if reset else None,
            accept_state=pattern(rng),
        )


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "name", few(DESIGNS, *list(DESIGNS)[::3], "max, six", "average, six", *LEAKY)
)
def test_random_runs_match_golden(name: str) -> None:
    design = DESIGNS[name]
    rng = np.random.default_rng([*name.encode()])
    play(design, [random_run(design, rng, reset=index == 1) for index in range(5)])


KINDS: dict[str, Pool | None] = {
    "none": None,
    "max": Pool(window=3, stride=2),
    "max of one": Pool(window=1, stride=2),
    "average": Pool(kind="average", window=2, stride=2),
}


EVERY_KIND = design_for(
    4, 2, average=True, pool_window=3, pool_overlap=2, add_latency=1, mul_latency=1
)


def test_every_kind_of_state_follows_every_other() -> None:
    """What a run leaves behind must not show in the next one, whatever their kinds."""
    kinds = [(pool, on) for pool in KINDS.values() for on in (True, False)]
    pairs = [pair for a in kinds for b in kinds for pair in (a, b) if a != b]
    shapes = [shape_for(3 + i % 2, 3, 4, pool, on) for i, (pool, on) in enumerate(pairs)]
    play(EVERY_KIND, [run_of(EVERY_KIND, shape) for shape in shapes])


def test_the_first_of_equals_is_noted() -> None:
    """Two equals in a window of lesser ones, at every pair of places; without and with ReLU."""
    design = design_for(4, 2, pool_window=2, pool_overlap=1)
    pairs = [(a, b) for a in range(4) for b in range(4)]
    runs = []
    for largest in (0x7FC00000, 0x80000000, 0, 0xBF800000, 0xFF800000, 0x3F800000):
        sums = np.full((1, 2, 2, len(pairs)), 0xFF800000, np.uint32)
        for m, (a, b) in enumerate(pairs):
            sums[0, a // 2, a % 2, m] = largest
            # A zero of the other sign is equal, too.
            other = largest if largest & 0x7FFFFFFF else largest ^ 0x80000000
            sums[0, b // 2, b % 2, m] = other
        pool = Pool(window=2, stride=2)
        runs += [SuperLayerRun(shape_for(16, 2, 2, pool, on), sums) for on in (False, True)]
    play(design, runs)


@pytest.mark.parametrize("overlap", [2, 3])
def test_positions_of_overlapping_windows(overlap: int) -> None:
    design = design_for(2, 2, pool_overlap=overlap)
    pools = [
        Pool(window=window, stride=stride)
        for window, stride in ((2, 1), (3, 1), (3, 2), (3, 3), (4, 1), (4, 3), (4, 2))
        if window <= stride * overlap
    ]
    shapes = [shape_for(4, 8, 7, pool, on) for pool in pools for on in (True, False)]
    play(design, [run_of(design, shape) for shape in shapes])


@pytest.mark.full
@pytest.mark.parametrize("average", few([False, True], True))
def test_positions_in_windows_that_hang_over_the_edges(average: bool) -> None:
    """Each side by itself, by every amount, on two images."""
    design = design_for(2, 2, pool_overlap=2, average=average, hanging=True)
    pads = [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 1, 1, 1)]
    pools = [Pool(window=window, stride=2, pad=pad) for window in (2, 3, 4) for pad in pads]
    pools += [
        Pool(window=4, stride=3, pad=(2, 1, 1, 2)),
        Pool(window=4, stride=5, pad=(1, 3, 3, 0)),
    ]
    runs = [run_of(design, shape_for(3, 5 + i % 2, 7, pool), 2) for i, pool in enumerate(pools)]
    play(design, runs)


def test_windows_apart_leave_elements_out() -> None:
    """Masks of averages cover the elements that no window does; fields of maxima do not."""
    design = design_for(3, 2, average=True, pool_overlap=1)
    pools = [Pool(kind=kind, window=2, stride=4) for kind in ("average", "max")]
    play(design, [run_of(design, shape_for(5, 8, 7, pool), 2) for pool in pools])


@pytest.mark.parametrize(
    ("accept", "accept_state"),
    [
        ((1,), (1, *[0] * 40)),
        ((1, 0), (0, 1)),
        *rows_in_full(
            ((1, *[0] * 40), (1,)),
            ((*[0] * 200, *[1] * 30), (*[1] * 30, *[0] * 200)),
        ),
    ],
)
def test_either_reader_may_stop_both_streams(
    accept: tuple[int, ...], accept_state: tuple[int, ...]
) -> None:
    shapes = [shape_for(6, 4, 5, pool) for pool in KINDS.values()]
    pressure = dict(accept=accept, accept_state=accept_state)
    play(EVERY_KIND, [run_of(EVERY_KIND, shape, **pressure) for shape in shapes])


def test_a_run_without_state_does_not_wait_for_its_reader() -> None:
    shapes = [shape_for(6, 4, 5, KINDS[kind], False) for kind in ("none", "max of one", "average")]
    runs = [run_of(EVERY_KIND, shape, accept_state=(0,)) for shape in shapes]
    assert not any(play(EVERY_KIND, runs).column("out_state_valid"))


def test_reset_in_mid_stream() -> None:
    """What was on its way when the reset came must not appear in the next run."""
    resets = (*range(4, 20, 2), 23, 31, 40, 47)
    pressure = dict(accept=(1, 1, 0), accept_state=(1, 0, 0, 0))
    pools = [Pool(kind=kind, window=2, stride=1) for kind in ("average", "max")]
    shapes = [shape_for(5, 3, 3, pool) for pool in pools]
    play(EVERY_KIND, [
        run_of(EVERY_KIND, shape, reset_at=at, **pressure) for shape in shapes for at in resets
    ])  # fmt: skip


def cycles_of(design: EngineDesign, shapes: list[Shape]) -> list[int]:
    """Cycles of the words of the maps, with readers that are always ready."""
    runs = [run_of(design, shape) for shape in shapes]
    with_state = replace(design, state=True)
    trace = run_super_layer(design, runs, sum(budget(with_state, run) for run in runs))
    starts = [c for c, start in enumerate(trace.column("start")) if start]
    words = transfers(trace, "maps", 0, len(trace.rows))
    expected = [word for run in runs for word, _ in golden(run, design)[0]]
    assert [word for word, _ in words.values()] == expected
    return [cycle - max(start for start in starts if start < cycle) for cycle in words]


@pytest.mark.sample(1)
@pytest.mark.parametrize("r", [1, *in_full(2)])
@pytest.mark.parametrize("kind", ["plain", "max", "average"])
def test_state_costs_no_cycle(kind: str, r: int) -> None:
    """Each word leaves in the very cycle in which it leaves a design without state."""
    pools: list[Pool | None] = [None]
    if kind != "plain":  # AlexNet's windows, and windows that are next to each other
        pools += [Pool(kind=kind, window=3, stride=2), Pool(kind=kind, window=2, stride=2)]
    design = design_for(
        4, r, groups=4, fifo_words=16, add_latency=2, average=kind == "average",
        **(PLAIN if kind == "plain" else dict(pool_window=3, pool_overlap=2)),
    )  # fmt: skip
    shapes = [shape_for(16, 5, 5, pool) for pool in pools]
    assert cycles_of(design, shapes) == cycles_of(replace(design, state=False), shapes)


def test_the_stream_of_state_goes_with_its_design() -> None:
    design = design_for()
    args = run_super_layer(design, [], 3).args
    with pytest.raises(ValueError, match="which is False"):
        super_layer(**(args | {"design": replace(design, state=False)}))
    with pytest.raises(ValueError, match="which is True"):
        super_layer(**(args | {"out": OutputStreams(args["out"].maps)}))


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(
    "name", few(["plain, r=1", "max, r=n", "average", "plain", "bfloat16"], "max, r=n")
)
def test_vhdl_replays(name: str, replays: Replays) -> None:
    design = DESIGNS[name]
    kinds = ["max", "average"] if design.average else ["max"]
    pools = [Pool(kind=kind, window=3, stride=2) if design.pool_window > 1 else None
             for kind in kinds]  # fmt: skip
    pressure = dict(accept=(1, 0, 1), accept_state=(1, 0, 0))
    runs = [
        *(run_of(design, shape_for(2 * design.n_cu - 1, 4, 5, pool), reset_at=25, **pressure)
          for pool in pools),
        run_of(design, shape_for(design.n_cu, 2, 2, None, False)),
    ]  # fmt: skip
    replays(play(design, runs), lint=True)
