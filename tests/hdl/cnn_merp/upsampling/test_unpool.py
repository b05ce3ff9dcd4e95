"""Un-pooling and ReLU' against the golden: bits, order, rate, room, framing, reset."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from block_bench import BlockBench, Drive, Recorded, Replays, Sample, at_random
from marks import few, in_full, rows_in_full
from merp.hdl.cnn_merp.upsampling.unpool import unpool
from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.base.formats import BFLOAT16, FloatFormat
from merp.models.base.shape import Padding, Pool, Shape
from merp.models.golden.state import State, keep_state, packed
from merp.models.golden.super_layer import activated
from merp.models.golden.unpool import unpool as golden_unpool
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign, size_unpool
from merp.models.machines.cnn_merp.params.unpool_registers import unpool_registers
from merp.testbenches.cnn_merp.random_layers import random_hang, random_slope
from merp.testbenches.cnn_merp.unpool_bench import UnpoolBenchRun, run_unpool, unpool_args

SPECIAL = [
    0x00000000, 0x80000000, 0x7FC00000, 0x7F800001, 0xFFC12345, 0x7F800000, 0xFF800000,
    0x00800000, 0x80800000, 0x80C00000, 0x007FFFFF, 0x80000001, 0x7F7FFFFF, 0x3F800000,
]  # fmt: skip

FAR: list[tuple[int, int, Padding]] = [
    (2, 1, (0, 0, 1, 1)), (3, 1, 1), (3, 1, 2), (5, 2, 4), (3, 2, 2), (4, 1, (3, 0, 0, 3)),
    (5, 2, (0, 3, 4, 1)),
]  # fmt: skip
"""Window, stride and padding where several windows hang over an edge."""

ROOMY = dict(window=4, overlap=2, words=64, max_size=12, max_maps=9, max_images=3)
DESIGNS = {
    "max": UnpoolDesign(**ROOMY),
    "average": UnpoolDesign(**ROOMY, average=True, add_latency=2, mul_latency=2),
    "overlap 1": UnpoolDesign(**(ROOMY | {"overlap": 1}), average=True, mul_latency=1),
    "overlap 3": UnpoolDesign(**(ROOMY | {"overlap": 3}), add_latency=1),
    "bfloat16": UnpoolDesign(**ROOMY, fmt=BFLOAT16, average=True, add_latency=5, mul_latency=3),
    "hanging": UnpoolDesign(**ROOMY, hanging=True, average=True, add_latency=1, mul_latency=1),
    "hanging, overlap 1": UnpoolDesign(**(ROOMY | {"overlap": 1}), hanging=True),
    "hanging, overlap 3": UnpoolDesign(**(ROOMY | {"overlap": 3}), hanging=True, add_latency=1),
    "far": UnpoolDesign(
        **ROOMY, hanging=True, far=True, average=True, add_latency=1, mul_latency=1
    ),
    "far, overlap 3": UnpoolDesign(
        **(ROOMY | {"overlap": 3}), hanging=True, far=True, add_latency=1
    ),
    "far, overlap 4": UnpoolDesign(
        **(ROOMY | {"overlap": 4, "window": 5}), hanging=True, far=True, average=True, add_latency=1
    ),
    "far, leaky": UnpoolDesign(
        **(ROOMY | {"overlap": 3}), hanging=True, far=True, leaky=True, average=True, add_latency=1
    ),
    "leaky": UnpoolDesign(**ROOMY, leaky=True, add_latency=2, mul_latency=3),
    "leaky, overlap 1": UnpoolDesign(**(ROOMY | {"overlap": 1}), leaky=True, mul_latency=1),
    "leaky, average": UnpoolDesign(
        **ROOMY, fmt=BFLOAT16, leaky=True, average=True, add_latency=1, mul_latency=2
    ),
}


LEAKY = [name for name in DESIGNS if "leaky" in name]


def shape_for(
    maps: int, rows: int, columns: int, pool: Pool | None = None, relu: bool = True, slope: int = 0
) -> Shape:
    return Shape(n=1, m=maps, k=1, rows=rows, columns=columns, relu=relu, slope=slope, pool=pool)


def words_of(rng: np.random.Generator, size: tuple[int, ...], fmt: FloatFormat) -> Bits:
    """Few distinct magnitudes (ties), sums that round, and every special value."""
    values = rng.choice([-3.5, -1.0, 0.1, 1.0, 2.5], size).astype(np.float32)
    jitter = rng.standard_normal(size).astype(np.float32)
    words = np.where(rng.random(size) < 0.4, values, jitter).view(np.uint32)
    words = np.where(rng.random(size) < 0.15, rng.choice(np.array(SPECIAL, np.uint32), size), words)
    return (words >> (32 - fmt.width)).astype(np.uint32)


def run_of(
    design: UnpoolDesign, shape: Shape, images: int = 1, seed: int = 0, **how: object
) -> UnpoolBenchRun:
    rng = np.random.default_rng([seed, images, shape.rows, shape.columns, shape.m])
    activation = words_of(rng, (images, shape.out_rows, shape.out_columns, shape.m), design.fmt)
    activation = activated(activation, shape, design.fmt)
    delta = words_of(rng, (images, shape.pooled_rows, shape.pooled_columns, shape.m), design.fmt)
    state = keep_state(activation, shape, "pooled", design.fmt)
    return UnpoolBenchRun(shape, delta, state, **how)  # type: ignore[arg-type]


def golden(run: UnpoolBenchRun, design: UnpoolDesign) -> list[int]:
    return [int(w) for w in golden_unpool(run.delta, run.state, run.shape, design.fmt).reshape(-1)]


def transfers(trace: Recorded, stream: str) -> list[int]:
    """Cycles of a stream's transfers."""
    pins = zip(trace.column(f"{stream}_valid"), trace.column(f"{stream}_ready"), strict=True)
    return [cycle for cycle, (valid, ready) in enumerate(pins) if valid and ready]


def whole_runs(trace: Recorded) -> list[tuple[int, int]]:
    """First and last cycle (exclusive) of each run that was not reset."""
    resets = [cycle for cycle, rst in enumerate(trace.column("rst")) if rst]
    starts = [cycle for cycle, start in enumerate(trace.column("start")) if start]
    spans = pairwise([*starts, len(trace.rows)])
    return [(a, b) for a, b in spans if not any(a < cycle < b for cycle in resets)]


def check(design: UnpoolDesign, runs: list[UnpoolBenchRun], trace: Recorded) -> None:
    """Bits, order, last, stream rules, no word too many, done, no framing error."""
    spans = whole_runs(trace)
    assert len(spans) == len(runs), "not every run was begun"
    data, last, valid, ready, rst, done = (
        trace.column(name)
        for name in ("source_data", "source_last", "source_valid", "source_ready", "rst", "done")
    )
    streams = {name: transfers(trace, name) for name in ("sink", "sink_state", "source")}
    errors, starts = trace.column("framing_error"), trace.column("start")
    for (begin, end), run in zip(spans, runs, strict=True):
        cycles = {n: [c for c in found if begin < c < end] for n, found in streams.items()}
        expected = golden(run, design)
        got = [data[cycle] for cycle in cycles["source"]]
        assert got == expected[: len(got)]
        assert len(got) == len(expected), f"{len(got)} of {len(expected)} words"
        assert [last[cycle] for cycle in cycles["source"]] == [0] * (len(got) - 1) + [1]
        supply = {
            "sink": run.delta.size,
            "sink_state": len(packed(run.state, run.shape, design.fmt)),
        }
        for name, words in supply.items():
            assert len(cycles[name]) == words
            asked = trace.column(f"{name}_ready")[
                cycles[name][-1] + 1 if words else begin + 1 : end
            ]
            assert not any(asked), f"{name} was asked for more"
        rises = begin + 1 + done[begin + 1 : end].index(1)
        assert rises == cycles["source"][-1] + 1
        assert all(done[rises:end])
        if run.lasts == (None, None):
            assert not any(errors[begin + 1 : end])
    for cycle in range(len(trace.rows) - 1):
        if valid[cycle] and not ready[cycle] and not rst[cycle] and not starts[cycle]:
            now, after = ((valid[c], data[c], last[c]) for c in (cycle, cycle + 1))
            assert now == after, f"changed in cycle {cycle + 1}"


def play(design: UnpoolDesign, runs: list[UnpoolBenchRun]) -> Recorded:
    cycles = 0
    for run in runs:
        shares = (np.mean(p) for p in (run.offer, run.offer_state, run.accept))
        work = run.delta.size + len(golden(run, design))
        cycles += int(work / min(shares)) * 2 + 300 + (run.reset_at or 0)
    trace = run_unpool(design, runs, cycles)
    check(design, runs, trace)
    return trace


def pattern(rng: np.random.Generator) -> tuple[int, ...]:
    if rng.random() < 0.3:
        return (1,)
    return (*(int(b) for b in rng.random(23) < rng.choice([0.2, 0.5, 0.9])), 1)


def random_run(
    design: UnpoolDesign, rng: np.random.Generator, reset: bool = False
) -> UnpoolBenchRun:
    kinds = (None, "max", "average") if design.average else (None, "max", "max")
    while True:
        kind = rng.choice(kinds)
        pool = None
        if kind is not None:
            window = int(rng.integers(1, design.window + 1))
            least = -(-window // design.overlap)
            stride = int(rng.integers(least, max(least, 5) + 1))
            pool = Pool(kind=str(kind), window=window, stride=stride)
            pool = random_hang(rng, pool, design.far) if design.hanging else pool
        rows, columns = (int(side) for side in rng.integers(1, 9, 2))
        if pool is None or (pool.rows(rows) and pool.columns(columns)):
            break
    maps, relu, slope = int(rng.integers(1, 6)), bool(rng.integers(2)), 0
    if design.leaky and rng.random() < 0.8:
        relu, slope = True, random_slope(rng, design.fmt)
    shape = shape_for(maps, rows, columns, pool, relu, slope)
    return run_of(
        design, shape, int(rng.integers(1, 4)), int(rng.integers(1000)),
        offer=pattern(rng), offer_state=pattern(rng), accept=pattern(rng),
        reset_at=int(rng.integers(2, 60)) if reset else None,
    )  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["max", "average"])
@pytest.mark.parametrize(
    "geometries",
    [[(1, 1), (2, 2), (3, 3), (1, 3), (2, 5)], [(3, 2), (2, 1), (4, 3)]],
    ids=["apart", "overlapping"],
)
def test_each_geometry(kind: str, geometries: list[tuple[int, int]]) -> None:
    """Odd and even rows, so that memories take turns across images both ways."""
    shapes = [
        shape_for(3, rows, columns, Pool(kind=kind, window=window, stride=stride), relu)
        for window, stride in geometries
        for rows, columns, relu in ((5, 6, True), (6, 5, False))
    ]
    design = size_unpool(shapes, max_images=3, add_latency=1)
    play(design, [run_of(design, shape, 3) for shape in shapes])


@pytest.mark.parametrize("kind", few(["max", "average"], "average"))
def test_windows_hanging_over_each_edge(kind: str) -> None:
    """By every amount, on three images, while what leaves waits: memories are full."""
    pads = [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 1, 1, 1)]
    pools = [Pool(kind=kind, window=window, stride=2, pad=pad) for window in (2, 3) for pad in pads]
    pools.append(Pool(kind=kind, window=4, stride=3, pad=(2, 1, 1, 2)))
    shapes = [shape_for(2, 4 + i % 2, 5, pool, bool(i % 3)) for i, pool in enumerate(pools)]
    design = size_unpool(shapes, max_images=3, add_latency=1, mul_latency=1)
    assert design.hanging
    play(design, [run_of(design, shape, 3, accept=(1, 0, 0)) for shape in shapes])


@pytest.mark.parametrize("kind", ["max", "average"])
def test_several_windows_hanging_over_each_edge(kind: str) -> None:
    """On three images, also smaller than a window; in one run in two, what leaves waits."""
    shapes = []
    for index, (window, stride, pad) in enumerate(FAR):
        pool = Pool(kind=kind, window=window, stride=stride, pad=pad)
        for rows, columns in ((4, 5), (1, 3), (3, 1)):
            if pool.rows(rows) and pool.columns(columns):
                shapes.append(shape_for(2, rows, columns, pool, bool((index + rows) % 2)))
    design = size_unpool(shapes, max_images=3, add_latency=1, mul_latency=1)
    assert design.far
    accepts = ((1,), (1, 0, 0))
    play(design, [run_of(design, s, 3, accept=accepts[i % 2]) for i, s in enumerate(shapes)])


@pytest.mark.parametrize(
    "name", few(DESIGNS, "max", "overlap 1", "hanging, overlap 3", "far, overlap 4", *LEAKY)
)
@pytest.mark.parametrize("seed", [0, *in_full(1)])
def test_random_runs(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    play(DESIGNS[name], [random_run(DESIGNS[name], rng, reset=i == 2) for i in range(6)])


@pytest.mark.parametrize("relu", [True, False], ids=["relu", "plain"])
def test_any_words_and_any_state(relu: bool) -> None:
    """Positions that no window has, masks that differ within an element, NaNs with payload."""
    design = size_unpool([shape_for(2, 7, 7, Pool(window=3, stride=2))], add_latency=1)
    shape = shape_for(2, 7, 7, Pool(window=3, stride=2), relu)
    rng = np.random.default_rng(4)
    size = (1, shape.pooled_rows, shape.pooled_columns, 2)
    delta = rng.integers(0, 1 << 32, size, np.uint32)
    delta[rng.random(size) < 0.4] &= np.uint32(0x807FFFFF)
    delta[rng.random(size) < 0.2] |= np.uint32(0x7F800000)
    position = rng.integers(0, 16, size, np.uint32)
    mask = rng.random(size) < 0.7 if relu else None
    play(design, [UnpoolBenchRun(shape, delta, State(kind="pooled", mask=mask, position=position))])


def test_a_total_of_minus_zero_stays() -> None:
    """Two contributions flush to -0; what does not contribute must not turn it into +0.

    Four windows share the element in the middle. The third has its maximum elsewhere (position 0),
    or there (position 1) where ReLU' stops it: that is a contribution, of +0.
    """
    size = (1, 2, 2, 1)
    delta = np.array([0x80C00000, 0x00800000, 0x3F800000, 0x3F800000], np.uint32).reshape(size)
    runs = []
    for position, mask in ((0, None), (0, True), (1, False)):
        shape = shape_for(1, 3, 3, Pool(window=2, stride=1), mask is not None)
        positions = np.array([3, 2, position, 3], np.uint32).reshape(size)
        masks = None if mask is None else np.array([True, True, mask, True]).reshape(size)
        state = State(kind="pooled", mask=masks, position=positions)
        runs.append(UnpoolBenchRun(shape, delta, state))
    design = size_unpool([run.shape for run in runs], add_latency=1)
    assert [golden(run, design)[4] for run in runs] == [0x80000000, 0x80000000, 0]
    play(design, runs)


def test_raster_order_of_four_contributions() -> None:
    """Sums whose value depends on the order, in every turn of the memories."""
    shape = shape_for(1, 7, 7, Pool(kind="average", window=2, stride=1), False)
    design = size_unpool([shape], add_latency=1, mul_latency=1)
    run = run_of(design, shape)
    values = 2.0 ** np.random.default_rng(0).integers(-26, 27, run.delta.shape)
    delta = (values * (1 + 2.0**-23)).astype(np.float32).view(np.uint32)
    play(design, [UnpoolBenchRun(shape, delta, run.state)])


@pytest.mark.parametrize("average", [False, True])
def test_without_pooling_a_layer_may_exceed_the_memories(average: bool) -> None:
    design = UnpoolDesign(
        window=2, overlap=2, words=2, max_size=9, max_maps=40, max_images=2, average=average
    )
    pooled = shape_for(2, 3, 3, Pool(window=2, stride=2))
    plain = [shape_for(40, 2, 3, None, relu) for relu in (True, False)]
    layers = [pooled, plain[0], pooled, plain[1], pooled]
    play(design, [run_of(design, shape, 2) for shape in layers])


def fill(design: UnpoolDesign, shape: Shape) -> int:
    """Cycles from start to the first word out: entrance, memories and sum, FIFO."""
    word = 2 + design.factor_latency
    field = 1 + (shape.relu or bool(shape.pool and shape.pool.kind == "max"))
    if shape.pool is None:
        return max(word, field) + 3
    if shape.pool.kind == "average":
        field = 1  # masks come in while the product is made
    return max(word, field) + design.result_latency + 3


@pytest.mark.parametrize(
    ("kind", "window", "stride", "scaled"),
    [("max", 3, 2, False), ("average", 3, 2, True), ("none", 1, 1, True),
     *rows_in_full(("max", 2, 2, False), ("max", 3, 1, False), ("max", 2, 3, False),
                   ("max", 3, 2, True), ("average", 2, 2, True), ("none", 1, 1, False))],
)  # fmt: skip
def test_a_word_per_cycle(kind: str, window: int, stride: int, scaled: bool) -> None:
    """Without a gap from the first word of the first image to the last of the last."""
    pool = None if kind == "none" else Pool(kind=kind, window=window, stride=stride)
    shapes = [shape_for(4, 7, 7, pool, relu) for relu in (True, False)]
    design = replace(size_unpool(shapes, max_images=2, add_latency=2), average=scaled)
    trace = play(design, [run_of(design, shape, 2) for shape in shapes])
    for (begin, end), shape in zip(whole_runs(trace), shapes, strict=True):
        out = [cycle for cycle in transfers(trace, "source") if begin < cycle < end]
        assert out[-1] - out[0] + 1 == 2 * 7 * 7 * 4
        assert out[0] - begin == fill(design, shape)


@pytest.mark.parametrize("kind", ["none", "max", "average"])
def test_a_word_per_cycle_of_leaky_relu(kind: str) -> None:
    """Later by one multiplier, with averages by two; without leaks, too."""
    pool = None if kind == "none" else Pool(kind=kind, window=3, stride=2)
    shapes = [
        shape_for(4, 7, 7, pool, relu, slope)
        for relu, slope in ((True, 0x3E99999A), (True, 0), (False, 0))
    ]
    design = size_unpool(shapes, max_images=2, add_latency=2, mul_latency=2)
    assert design.leaky
    trace = play(design, [run_of(design, shape, 2) for shape in shapes])
    for (begin, end), shape in zip(whole_runs(trace), shapes, strict=True):
        out = [cycle for cycle in transfers(trace, "source") if begin < cycle < end]
        assert out[-1] - out[0] + 1 == 2 * 7 * 7 * 4
        assert out[0] - begin == fill(design, shape)


@pytest.mark.parametrize(("window", "stride", "overlap"), [(3, 2, 2), (2, 2, 1), (3, 1, 3)])
def test_words_in_as_long_as_there_is_room(window: int, stride: int, overlap: int) -> None:
    """While nothing leaves, overlap rows are taken, one word per cycle; no row is passed yet.

    Two more words wait at the entrance.
    """
    shape = shape_for(16, 9, 7, Pool(window=window, stride=stride), False)
    design = size_unpool([shape], add_latency=1)
    assert design.overlap == overlap
    blocked = (0,) * 500 + (1,) * 600
    trace = play(design, [run_of(design, shape, accept=blocked)])
    taken = [cycle for cycle in transfers(trace, "sink") if cycle < 500]
    assert len(taken) == overlap * shape.pooled_columns * shape.m + 2
    assert taken[-1] - taken[0] + 1 == len(taken)


@pytest.mark.parametrize("kind", few(["max", "average"], "max"))
def test_a_slow_stream_delays_and_changes_nothing(kind: str) -> None:
    shapes = [shape_for(2, 7, 6, Pool(kind=kind, window=3, stride=2)), shape_for(3, 3, 2)]
    design = size_unpool(shapes, max_images=2)
    slow = (0,) * 9 + (1,)
    play(design, [
        run_of(design, shape, 2, **{stream: slow})
        for shape in shapes for stream in ("offer", "offer_state", "accept")
    ])  # fmt: skip


@pytest.mark.parametrize("pool", [
    Pool(window=3, stride=2), Pool(kind="average", window=2, stride=2), None,
], ids=["max", "average", "plain"])  # fmt: skip
def test_reset_in_mid_stream(pool: Pool | None) -> None:
    """What was on its way when the reset came must not appear in the next run."""
    shape = shape_for(2, 5, 5, pool)
    design = size_unpool([shape], average=True, add_latency=2)
    resets = (1, 2, 3, 5, 8, 9, 13, 14, 20, 27, 40, 51)
    play(design, [run_of(design, shape, reset_at=at, accept=(1, 1, 0)) for at in resets])


@pytest.mark.parametrize("cut", [14, 15, 17, 20])
def test_registers_may_change_with_a_reset(cut: int) -> None:
    """A pooled run that a reset breaks off leaves nothing to the run behind one without pooling."""
    shapes = shape_for(2, 4, 4, Pool(window=1, stride=1), False), shape_for(1, 2, 2, None, False)
    design = size_unpool(shapes, add_latency=1)
    pooled, plain = (
        {
            f"config_{name.removeprefix('unpool_config_')}": value
            for name, value in unpool_registers(shape, shape.m, 1, design).items()
        }
        for shape in shapes
    )
    flags = {"sink_valid": 0.9, "sink_state_valid": 0.9, "source_ready": 0.8}
    words = {"sink_data": design.fmt.width, "sink_state_data": 8}
    second = 16  # cycle of the last session in which the pooled run starts

    def session(number: int) -> Drive:
        drive = at_random(flags, words)(number)

        def last(cycle: int, seen: Sample) -> dict[str, int]:
            start = {"start": 1} if cycle == second else {}
            return {**drive(cycle, seen), **(plain if cycle < second else pooled), **start}

        def first(cycle: int, seen: Sample) -> dict[str, int]:
            return {**drive(cycle, seen), **(pooled if cycle < cut else plain)}

        return last if number else first

    payload = {"source_valid": "source_data source_last"}
    BlockBench(unpool, **unpool_args(design)).as_new_after_reset(
        session, [cut], 50, payload=payload
    )


def test_reset_ends_done() -> None:
    shape = shape_for(1, 1, 1, None, False)
    design = size_unpool([shape])
    registers = unpool_registers(shape, 1, 1, design)
    config = {name.removeprefix("unpool_"): value for name, value in registers.items()}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        always = {"sink_valid": 1, "sink_last": 1, "source_ready": 1}
        return config | always | {"rst": int(cycle in (0, 20)), "start": int(cycle == 2)}

    trace = BlockBench(unpool, **unpool_args(design)).run(drive, 25)
    done = trace.column("done")
    assert done[20]
    assert not any(done[21:])


def test_framing_errors() -> None:
    """No last, an early one, and an early one besides the right one, on either stream."""
    shape = shape_for(2, 6, 6, Pool(window=2, stride=2))
    design = size_unpool([shape])
    right = run_of(design, shape)
    finals = right.delta.size - 1, len(packed(right.state, shape, design.fmt)) - 1
    runs = [right]
    for marks in ((), (0,), (0, finals[0])):
        runs += [run_of(design, shape, lasts=(marks, None)), right]
    for marks in ((), (0,), (0, finals[1])):
        runs += [run_of(design, shape, lasts=(None, marks)), right]
    trace = play(design, runs)
    errors = trace.column("framing_error")
    for (begin, end), run in zip(whole_runs(trace)[:-1], runs[:-1], strict=True):
        # Sticky until start, which is sampled in the cycle of end.
        assert errors[end] == (run is not right)
        assert not errors[begin + 1]


@pytest.mark.parametrize("size", [4, 7])
def test_registers_of_any_width(size: int) -> None:
    """Sizes that just fill their registers, and sizes that just need another bit."""
    shape = shape_for(size, size, size, Pool(window=2, stride=1))
    design = size_unpool([shape], max_images=1, add_latency=1)
    play(design, [run_of(design, shape)])


def test_stride_beyond_the_map() -> None:
    shape = shape_for(2, 4, 5, Pool(window=2, stride=15))
    design = size_unpool([shape])
    assert unpool_registers(shape, 2, 1, design)["unpool_config_stride"] == 5
    play(design, [run_of(design, shape)])


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(
    "name", few(["max", "overlap 3", "bfloat16", *LEAKY], "overlap 3", "leaky, average")
)
def test_vhdl_replays(name: str, replays: Replays) -> None:
    design = DESIGNS[name]
    kind = "average" if design.average else "max"
    shape = shape_for(2, 5, 5, Pool(kind=kind, window=3, stride=-(-3 // design.overlap)))
    runs = [
        run_of(design, shape, reset_at=33, accept=(1, 1, 0)),
        run_of(design, shape_for(3, 2, 2)),
        run_of(design, shape_for(1, 5, 4, Pool(window=2, stride=2)), 2, offer_state=(0, 1)),
    ]
    if design.leaky:
        slope = int(to_bits(0.3, design.fmt))
        leaky = [replace(run.shape, slope=slope) for run in runs[1:]]
        leaky.append(replace(shape, slope=slope))
        runs += [run_of(design, each) for each in leaky]
    replays(play(design, runs), lint=True)


@pytest.mark.ghdl
@pytest.mark.verilator
def test_hdl_replays_with_several_windows_over_an_edge(replays: Replays) -> None:
    design = DESIGNS["far, overlap 4"]
    shapes = [
        shape_for(2, 3, 4, Pool(kind="average", window=3, stride=1, pad=1)),
        shape_for(1, 2, 3, Pool(window=5, stride=2, pad=4), False),
    ]
    runs = [run_of(design, shapes[0], 2, reset_at=40), run_of(design, shapes[1], 2, accept=(1, 0))]
    replays(play(design, runs), lint=True)


@pytest.mark.ghdl
@pytest.mark.parametrize("pool", [None, Pool(window=2, stride=1)], ids=["plain", "max"])
def test_vhdl_replays_with_the_smallest_registers(pool: Pool | None, replays: Replays) -> None:
    shape = shape_for(3, 4, 3, pool)
    design = size_unpool([shape], max_images=1, add_latency=1)
    replays(play(design, [run_of(design, shape)]))
