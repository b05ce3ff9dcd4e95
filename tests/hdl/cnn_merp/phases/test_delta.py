"""Delta propagation in hardware: bits, counts and cycles, against golden and formulae."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from layer_kinds import KINDS, POOL_KINDS, many, pooled

from audited_runs import assert_same, audited, many_in_verilog
from marks import few, in_full, rows_in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.delta import delta_run, delta_top, expect_delta
from merp.models.base.bits import Bits
from merp.models.base.delta_shape import delta_shape
from merp.models.base.folded_shape import folds
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.base.shape import Pool, Shape
from merp.models.golden.delta import delta_convolution
from merp.models.golden.state import keep_state, packed
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.cycles import delta_cycles
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.testbenches.cnn_merp.random_layers import random_hang, random_kernel, random_pad
from merp.testbenches.top.run import Run


def design(
    fmt: FloatFormat,
    k: int,
    n_cu: int,
    before: bool,
    p: int = 1,
    average: bool = False,
    cu_kind: str = "tree",
    precision: int = 24,
    kernel_port: int = 1,
    map_port: int = 1,
    r: int = 1,
    window: int = 3,
    hanging: bool = False,
    far: bool = False,
    **options: bool,
) -> DeltaDesign:
    engine = EngineDesign(
        fmt=fmt, k=k, n_cu=n_cu, r=r, p=p, d=2, kernel_words=24, groups=4, row_words=48,
        max_size=16, max_maps=6, max_images=3, max_stride=3, fifo_words=12, add_latency=2,
        mul_latency=1, cu_kind=cu_kind, accumulator_precision=precision,
        kernel_port=kernel_port, map_port=map_port, **options,
    )  # fmt: skip
    unpooled = UnpoolDesign(
        fmt=fmt, window=window, overlap=2 + far, words=64, max_size=16, max_maps=24, max_images=3,
        average=average, hanging=hanging, far=far, add_latency=2, mul_latency=1,
    )  # fmt: skip
    return DeltaDesign(engine, unpooled, before)


DESIGNS = (
    design(BINARY32, 1, 2, False),
    design(BFLOAT16, 3, 2, False, p=2, average=True),
    design(BINARY16, 2, 3, True, average=True),
    design(BINARY32, 3, 1, True),
    design(BINARY32, 2, 2, False, cu_kind="fused"),
    design(BINARY32, 2, 2, True, cu_kind="fused", precision=28),
    design(BFLOAT16, 3, 2, True, kernel_port=4),
    design(BINARY32, 2, 3, False, kernel_port=8),
    design(BFLOAT16, 3, 2, True, average=True, sided=True),
    design(BINARY32, 2, 3, False, cu_kind="fused", sided=True, folded=True),
    design(BINARY16, 4, 1, False, p=2, sided=True, kernel_port=2),
    design(BFLOAT16, 4, 2, False, average=True, widened=True),
    design(BINARY16, 3, 3, True, p=2, widened=True, sided=True),
    design(BINARY32, 3, 2, True, cu_kind="fused", precision=28, widened=True, folded=True),
    design(BFLOAT16, 5, 2, True, widened=True, sided=True),
    design(BINARY32, 2, 3, False, cu_kind="fused", widened=True, sided=True),
    # Deltas come several to a beat: pixels end within beats, and are smaller than one.
    design(BFLOAT16, 3, 2, False, p=2, map_port=4, kernel_port=2),
    design(BINARY32, 2, 2, False, cu_kind="fused", precision=28, map_port=2),
    design(BFLOAT16, 1, 3, False, map_port=8),
    # And leave so, of layers of which none was pooled, or some.
    design(BFLOAT16, 3, 4, False, map_port=4, r=4, window=1),
    design(BINARY32, 1, 3, False, map_port=8, r=3, average=True),
    # Smaller kernels, several elements of them to a beat.
    design(BFLOAT16, 3, 2, True, widened=True, sided=True, kernel_port=4),
    design(BINARY32, 3, 3, False, cu_kind="fused", widened=True, folded=True, kernel_port=2),
    design(BFLOAT16, 5, 2, False, p=2, widened=True, kernel_port=8),
    # Windows that hang over the edges, deltas at pooled resolution and at that of the sums.
    design(BFLOAT16, 3, 2, True, average=True, hanging=True),
    design(BINARY32, 2, 2, False, average=True, hanging=True),
    design(BFLOAT16, 3, 4, False, map_port=4, r=4, hanging=True),
    # Deltas come several to a beat at pooled resolution: pixels and the run end within beats.
    design(BINARY32, 2, 2, True, cu_kind="fused", precision=28, map_port=2, kernel_port=4),
    design(BFLOAT16, 3, 3, True, p=2, map_port=4, average=True, hanging=True, sided=True),
    design(BINARY16, 3, 2, True, map_port=8, r=2, widened=True),
    design(BFLOAT16, 1, 4, True, map_port=4, r=4, window=1),
    # Several windows hang over an edge.
    design(BFLOAT16, 3, 2, True, average=True, hanging=True, far=True),
    design(BINARY32, 2, 2, False, average=True, hanging=True, far=True),
    design(BFLOAT16, 3, 4, False, map_port=4, r=4, hanging=True, far=True),
)


@dataclass(frozen=True)
class Case:
    """A random layer and what goes into its delta propagation."""

    shape: Shape
    unpooled: Shape
    design: DeltaDesign
    deltas: Bits
    kernels: Bits
    state: bytes
    golden: Bits
    stalls: dict[str, tuple[int, ...]]
    reset_at: int | None


def _pool(rng: np.random.Generator, undone: UnpoolDesign) -> Pool | None:
    kind = str(rng.choice(["none", "max", "average" if undone.average else "max"]))
    if undone.window == 1:
        return None
    if kind == "none":
        return None
    pool = Pool(kind=kind, window=int(rng.integers(1, 4)), stride=int(rng.integers(1, 4)))
    return random_hang(rng, pool, undone.far) if undone.hanging else pool


def _shape(rng: np.random.Generator, which: DeltaDesign) -> Shape:
    """A layer; its own pooling counts where it is undone before the engine."""
    engine = which.engine
    while True:
        try:
            shape = Shape(
                n=int(rng.integers(1, 5)),
                m=int(rng.integers(1, 5 if engine.map_port == 1 else engine.max_maps + 1)),
                k=(k := random_kernel(rng, engine)),
                rows=int(rng.integers(1, 7)),
                columns=int(rng.integers(1, 7)),
                stride=int(rng.integers(1, 4)),
                pad=random_pad(rng, engine, k),
                relu=bool(rng.random() < 0.7),
                pool=_pool(rng, which.unpool) if which.before else None,
            )
            swapped = delta_shape(shape)
        except ValueError:
            continue
        if folds(shape, engine.k) and not engine.folded:
            continue
        pool = shape.pool
        if pool and -(-pool.window // pool.stride) > which.unpool.overlap:
            continue
        groups = -(-shape.n // engine.n_cu)
        if groups <= engine.groups and swapped.n * groups <= engine.kernel_words:
            return shape


def _earlier(rng: np.random.Generator, shape: Shape, which: DeltaDesign) -> Shape:
    """A layer whose output is the input of ``shape``."""
    while True:
        pool = _pool(rng, which.unpool)
        rows, columns = shape.rows, shape.columns
        if pool:
            rest = rng.integers(0, pool.stride, 2)
            least = pool.elements(rows, columns)
            rows, columns = (side + int(more) for side, more in zip(least, rest, strict=True))
            if (pool.rows(rows), pool.columns(columns)) != (shape.rows, shape.columns):
                continue
            if -(-pool.window // pool.stride) > which.unpool.overlap or max(rows, columns) > 16:
                continue
        relu = bool(rng.random() < 0.7)
        return Shape(n=1, m=shape.n, k=1, rows=rows, columns=columns, relu=relu, pool=pool)


def _words(rng: np.random.Generator, fmt: FloatFormat, *size: int) -> Bits:
    exponent = rng.integers(fmt.bias - 2, fmt.bias + 2, size)
    words = rng.integers(0, 2, size) << (fmt.width - 1) | exponent << fmt.frac_bits
    words |= rng.integers(0, 1 << fmt.frac_bits, size)
    words[rng.random(size) < 0.1] = 0
    return words.astype(np.uint32)


def layers(seed: int, index: int) -> tuple[np.random.Generator, Shape, Shape, int]:
    """A layer, the one whose pooling is undone, and images; what draws the rest of the case."""
    rng = np.random.default_rng([seed, index])
    which = DESIGNS[index]
    images = int(rng.integers(1, 4))
    shape = _shape(rng, which)
    return rng, shape, shape if which.before else _earlier(rng, shape, which), images


def case(seed: int, index: int, pressure: bool = True) -> Case:
    which = DESIGNS[index]
    rng, shape, unpooled, images = layers(seed, index)
    fmt = which.engine.fmt
    kernels = _words(rng, fmt, shape.m, shape.n, shape.k, shape.k)
    layer = kernels, shape, fmt, which.engine.summation
    activation = _words(rng, fmt, images, unpooled.out_rows, unpooled.out_columns, unpooled.m)
    state = keep_state(activation, unpooled, "pooled", fmt)
    if which.before:
        deltas = _words(rng, fmt, images, shape.pooled_rows, shape.pooled_columns, shape.m)
        golden = delta_convolution(unpool(deltas, state, shape, fmt), *layer)
    else:
        deltas = _words(rng, fmt, images, shape.out_rows, shape.out_columns, shape.m)
        golden = unpool(delta_convolution(deltas, *layer), state, unpooled, fmt)
    streams = ("s_axis_delta", "s_axis_kernel", "s_axis_state", "m_axis_delta")
    stalls = {
        stream: (*(int(bit) for bit in rng.random(17) < rng.choice([0.2, 0.6, 0.9])), 1)
        for stream in streams
        if pressure and rng.random() < 0.7
    }
    reset_at = int(rng.integers(5, 800)) if pressure and rng.random() < 0.3 else None
    packed_state = packed(state, unpooled, fmt)
    return Case(shape, unpooled, which, deltas, kernels, packed_state, golden, stalls, reset_at)


def run_of(c: Case) -> Run:
    run = delta_run(c.shape, c.unpooled, c.design, c.deltas, c.kernels, c.state)
    return run.under(c.stalls, c.reset_at)


def run(cases: list[Case], engine: str = "myhdl", array: str = "behavioural") -> list[RunRecord]:
    job = Job(delta_top(cases[0].design, array), [run_of(each) for each in cases], limit=3000)
    expected = [
        expect_delta(each.shape, each.unpooled, len(each.deltas), each.design, each.golden)
        for each in cases
    ]
    return audited(job, engine, expected)


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", [0, *in_full(1, 2)])
@pytest.mark.parametrize("index", few(range(len(DESIGNS)), 1, 5, 10, 13, 17, 19, 25, 28))
def test_random_layers_back_to_back(index: int, seed: int) -> None:
    run([case(10 * seed + i, index) for i in range(3)])


@pytest.mark.parametrize("index", [0, 5, *in_full(2, 4, *range(6, 16))])
def test_register_transfer_array_gives_the_same_record(index: int) -> None:
    cases = [case(70, index)]
    assert_same(run(cases), run(cases, array="rtl"))


@pytest.mark.ghdl
@pytest.mark.parametrize(
    "index",
    [
        28,
        *in_full(*range(28), 29, 30),
    ],
)  # fmt: skip
def test_vhdl_gives_the_same_record(index: int) -> None:
    cases = [case(seed, index) for seed in (80, 81)]
    assert_same(run(cases, "ghdl", "rtl"), run(cases))


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize(
    "index",
    [
        4,
        *in_full(0, 3, 6, 10, 13, 16, 18, 20, 23, 25, 28, 29),
    ],
)  # fmt: skip
def test_verilog_gives_the_same_record(index: int) -> None:
    cases = [case(seed, index) for seed in range(90, 96)]
    assert_same(run(cases, "verilator", "rtl"), run(cases))


@pytest.mark.verilator
@pytest.mark.parametrize("index", in_full(*range(31)))
def test_many_random_layers_in_verilog_with_arrays_in_cpp(index: int) -> None:
    many_in_verilog(run, [case(seed, index) for seed in range(100, 180)])


def unpooled_case(index: int, relu: bool) -> Case:
    """Without pooling and pressure; its deltas end within a beat."""
    cases = (case(seed, index, pressure=False) for seed in range(999))
    port = DESIGNS[index].engine.map_port
    return next(
        each
        for each in cases
        if (each.unpooled.pool, each.unpooled.relu) == (None, relu)
        and each.golden.size > 4 * port
        and each.golden.size % port
    )


@pytest.mark.parametrize("index", [19, *in_full(18, 20)])
def test_deltas_end_anywhere_in_a_beat_and_wait_for_their_mask_bits(index: int) -> None:
    late = {"s_axis_state": (1, *[0] * 31)}
    masked = unpooled_case(index, True)
    run([replace(masked, stalls=late), unpooled_case(index, False), masked])


@pytest.mark.sample(1)
def of_ones(shape: Shape, front: Shape, which: DeltaDesign) -> Case:
    """Two images of ones that propagate to ``front``, without pressure."""
    ones = {
        "deltas": (2, shape.out_rows, shape.out_columns, shape.m),
        "kernels": (shape.m, shape.n, shape.k, shape.k),
        "activation": (2, front.out_rows, front.out_columns, front.m),
    }
    made = {name: np.full(size, 0x3F800000, np.uint32) for name, size in ones.items()}
    state = keep_state(made["activation"], front, "pooled", BINARY32)
    summation = which.engine.summation
    sums = delta_convolution(made["deltas"], made["kernels"], shape, BINARY32, summation)
    return Case(
        shape, front, which, made["deltas"], made["kernels"], packed(state, front, BINARY32),
        unpool(sums, state, front, BINARY32), {}, None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("port", "pool", "cycles"),
    [
        (1, None, 1024),
        (4, None, 256),
        *rows_in_full((2, None, 512), (4, Pool(window=2, stride=2), 4096)),
    ],
)
def test_so_many_deltas_leave_in_a_cycle(port: int, pool: Pool | None, cycles: int) -> None:
    """Of eight maps in 8 x 8 places of two images; pooled ones are expanded one by one."""
    which = design(BINARY32, 3, 4, False, p=2, map_port=port, r=4)
    which = which._replace(engine=replace(which.engine, fifo_words=40))
    shape = Shape(n=8, m=1, k=3, rows=8, columns=8, pad=1)
    side = 16 if pool else 8
    front = Shape(n=1, m=8, k=1, rows=side, columns=side, pool=pool)
    [record] = run([of_ones(shape, front, which)])
    total = record.outcome.status["status_total"]
    assert cycles < total < cycles + 64
    modelled = delta_cycles(shape, front, 8, 2, which.engine).total
    assert abs(total - modelled) < (128 if pool else 16)


@pytest.mark.parametrize(("window", "stride", "pad"), [(3, 1, 1), (3, 1, 2), (3, 2, 2)])
def test_cycles_where_several_windows_hang_over_an_edge(window: int, stride: int, pad: int) -> None:
    """Within 5 percent: fewer pooled deltas, as many, and more than elements."""
    which = design(BINARY32, 3, 4, False, p=2, r=4, hanging=True, far=True)
    which = which._replace(engine=replace(which.engine, fifo_words=40))
    pool = Pool(window=window, stride=stride, pad=pad)
    front = Shape(n=1, m=8, k=1, rows=9, columns=9, pool=pool)
    rows, columns = front.pooled_rows, front.pooled_columns
    shape = Shape(n=8, m=1, k=3, rows=rows, columns=columns, pad=1)
    [record] = run([of_ones(shape, front, which)])
    modelled = delta_cycles(shape, front, 8, 2, which.engine).total
    assert modelled == pytest.approx(record.outcome.status["status_total"], rel=0.05)


def with_state(index: int) -> Case:
    """Without pressure, with more than three bytes of state."""
    cases = (case(seed, index, pressure=False) for seed in range(99))
    return next(each for each in cases if len(each.state) > 3)


@pytest.mark.parametrize("index", few([0, 3, 19, 20, 27, 28, 30], 3, 20))
def test_a_misplaced_last_is_told_and_forgotten(index: int) -> None:
    """A word too many at the source of a stream, or a beat; every run is right."""
    one = with_state(index)
    port = one.design.engine.map_port
    good, runs = run_of(one), []
    for name, words in good.words.items():
        more = port if name == "s_axis_delta" else 1
        wrong = np.append(words, np.zeros(more, words.dtype))
        runs += [replace(good, words={**good.words, name: wrong}), good]
    job = Job(delta_top(one.design, "behavioural"), runs, limit=3000)
    for place, record in enumerate(run_job(job, "myhdl")):
        assert record.outcome.status["status_framing_error"] == int(place % 2 == 0)
        assert 0 <= record.outcome.status["status_delta_in"] - one.deltas.size < port
        np.testing.assert_array_equal(record.words("m_axis_delta"), one.golden.reshape(-1))


def test_a_planted_fault_in_the_state_is_seen() -> None:
    one = with_state(3)
    wrong = bytes([one.state[0] ^ 0xFF, *one.state[1:]])
    with pytest.raises(AssertionError, match="differ"):
        run([replace(one, state=wrong)])


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("name", KINDS)
def test_many_layers_of_each_kind(name: str) -> None:
    of, built = KINDS[name]
    places = [place for place, which in enumerate(DESIGNS) if built(which.engine)]

    def is_one(seed: int, index: int) -> bool:
        return of(layers(seed, index)[1], DESIGNS[index].engine.k)

    for index, seeds in many(is_one, places):
        run([case(seed, index) for seed in seeds], "verilator")


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("name", POOL_KINDS)
def test_many_layers_with_each_kind_of_pooling_undone(name: str) -> None:
    kind = POOL_KINDS[name]
    places = [
        place
        for place, which in enumerate(DESIGNS)
        if which.unpool.window > 1 and kind.built(which.unpool)
    ]
    for index, seeds in many(lambda *case: pooled(kind, layers(*case)[2]), places):
        run([case(seed, index) for seed in seeds], "verilator")
