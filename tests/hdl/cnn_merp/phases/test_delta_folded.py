"""Delta propagation of fully connected layers on engines of k x k kernels, beside convolutions."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from audited_runs import assert_same, audited, many_in_verilog
from marks import in_full, rows_in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.delta import delta_run, delta_top, expect_delta
from merp.models.base.bits import Bits
from merp.models.base.delta_shape import delta_shape
from merp.models.base.errors import BadInput
from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat
from merp.models.base.shape import Pool, Shape
from merp.models.golden.delta import delta_convolution
from merp.models.golden.state import keep_state, packed
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.cycles import delta_cycles
from merp.models.machines.cnn_merp.kernel_load import delta_load
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.models.machines.cnn_merp.phases import maps_behind
from merp.testbenches.top.run import Run


def design(
    k: int, n_cu: int, before: bool, fmt: FloatFormat = BINARY32, **more: int
) -> DeltaDesign:
    values = dict(
        fmt=fmt, k=k, n_cu=n_cu, r=1, d=2, kernel_words=24, groups=6, row_words=48, max_size=16,
        max_maps=6, max_images=4, max_stride=3, fifo_words=12, add_latency=2, mul_latency=1,
        cu_kind="tree" if fmt != BINARY32 else "fused", folded=True,
    )  # fmt: skip
    unpooled = UnpoolDesign(
        fmt=fmt, window=3, overlap=2, words=64, max_size=16, max_maps=54, max_images=4,
        add_latency=2, mul_latency=1,
    )  # fmt: skip
    return DeltaDesign(EngineDesign(**(values | more)), unpooled, before)  # type: ignore[arg-type]


DESIGNS = (
    design(2, 2, True),
    design(3, 1, False, p=2),
    design(2, 3, False, BFLOAT16, p=2),
    design(3, 2, True, accumulator_precision=28, d=3),
    design(2, 1, True),
    # Several weights to a beat: n_cu are a beat and a half, a part of one, and several.
    design(3, 3, False, BFLOAT16, p=2, kernel_port=2),
    design(2, 6, True, BFLOAT16, kernel_port=4),
    design(3, 2, True, accumulator_precision=28, d=3, kernel_port=4),
    design(2, 4, True, BFLOAT16, kernel_port=2),
    # Deltas come several to a beat, too.
    design(3, 2, False, BFLOAT16, p=2, map_port=4),
    design(3, 3, False, kernel_port=2, map_port=8),
    design(5, 2, False, BFLOAT16, map_port=2, max_maps=4),
    design(3, 2, False, BFLOAT16, p=2, widened=True, kernel_port=4),
)


@dataclass(frozen=True)
class Case:
    """A layer and what goes into its delta propagation."""

    shape: Shape
    unpooled: Shape
    design: DeltaDesign
    deltas: Bits
    kernels: Bits
    state: bytes
    golden: Bits
    stalls: dict[str, tuple[int, ...]]
    reset_at: int | None

    @property
    def run(self) -> Run:
        run = delta_run(
            self.shape, self.unpooled, self.design, self.deltas, self.kernels, self.state
        )
        return run.under(self.stalls, self.reset_at)


def _words(rng: np.random.Generator, fmt: FloatFormat, *size: int) -> Bits:
    words = fmt.one + rng.integers(-(2 << fmt.frac_bits), 2 << fmt.frac_bits, size)
    return (words ^ np.where(rng.random(size) < 0.5, fmt.sign_bit, 0)).astype(np.uint32)


def _shapes(rng: np.random.Generator, which: DeltaDesign, connected: bool) -> tuple[Shape, Shape]:
    """A layer, and the one whose pooling is undone: itself, or the one in front of it."""
    engine = which.engine
    rows, columns, maps = (int(rng.integers(1, 4)) for _ in range(3))
    if connected:
        most = engine.max_maps * engine.taps
        sizes = rows * columns * maps, int(rng.integers(1, most + 1)), 1, 1, 1
    else:
        rows = columns = max(4, engine.k)
        sizes = maps, int(rng.integers(1, 5)), engine.k, rows, columns
    shape = Shape(**dict(zip(("n", "m", "k", "rows", "columns"), sizes, strict=True)))
    if which.before:
        return shape, shape
    pool = Pool(window=2, stride=2) if rng.random() < 0.5 else None
    factor = 2 if pool else 1
    earlier = Shape(n=1, m=maps, k=1, rows=factor * rows, columns=factor * columns, pool=pool)
    return shape, earlier


def case(seed: int, index: int, connected: bool = True, pressure: bool = True) -> Case:
    rng = np.random.default_rng([seed, index])
    which = DESIGNS[index]
    engine, fmt = which.engine, which.engine.fmt
    while True:
        shape, unpooled = _shapes(rng, which, connected)
        try:
            check_fits(delta_shape(shape), 4, engine, "random case")
        except BadInput:
            continue
        break
    images = int(rng.integers(1, 5))
    maps = shape.m if which.before else maps_behind(shape, unpooled)
    kernels = _words(rng, fmt, shape.m, shape.n, shape.k, shape.k)
    size = unpooled.out_rows, unpooled.out_columns, maps
    state = keep_state(_words(rng, fmt, images, *size), unpooled, "pooled", fmt)
    deltas = _words(rng, fmt, images, shape.out_rows, shape.out_columns, shape.m)
    layer = kernels, shape, fmt, engine.summation
    if which.before:
        golden = delta_convolution(unpool(deltas, state, shape, fmt), *layer)
    else:
        behind = delta_convolution(deltas, *layer)
        flat = behind.reshape(images, unpooled.pooled_rows, unpooled.pooled_columns, maps)
        golden = unpool(flat, state, unpooled, fmt)
    streams = ("s_axis_delta", "s_axis_kernel", "s_axis_state", "m_axis_delta")
    stalls = {
        stream: (*(int(bit) for bit in rng.random(17) < rng.choice([0.2, 0.6, 0.9])), 1)
        for stream in streams
        if pressure and rng.random() < 0.7
    }
    reset_at = int(rng.integers(5, 800)) if pressure and rng.random() < 0.3 else None
    kept = packed(state, unpooled, fmt)
    return Case(shape, unpooled, which, deltas, kernels, kept, golden, stalls, reset_at)


def run(cases: list[Case], engine: str = "myhdl", array: str = "behavioural") -> list[RunRecord]:
    """Run cases of one elaboration back to back, and audit each."""
    job = Job(delta_top(cases[0].design, array), [each.run for each in cases], limit=3000)
    expected = [
        expect_delta(each.shape, each.unpooled, len(each.deltas), each.design, each.golden)
        for each in cases
    ]
    return audited(job, engine, expected)


def mixed(seed: int, index: int) -> list[Case]:
    """Two fully connected layers, and a convolution between them."""
    return [case(seed + i, index, connected=i != 1) for i in range(3)]


@pytest.mark.sample(2)
@pytest.mark.parametrize("index", [0, 1, 2, 3, 4, 6, 7, *in_full(5, 8, 12)])
def test_random_layers_back_to_back(index: int) -> None:
    run(mixed(0, index))


@pytest.mark.full
@pytest.mark.parametrize("index", [0, *in_full(2, 3, 7)])
def test_register_transfer_array_gives_the_same_record(index: int) -> None:
    cases = mixed(70, index)
    assert_same(run(cases), run(cases, array="rtl"))


@pytest.mark.sample(2)
@pytest.mark.parametrize(("index", "inputs"), [
    (6, 1), (6, 4), (6, 5), (6, 11), (8, 3), *rows_in_full((6, 6), (6, 12), (5, 2), (7, 4)),
])  # fmt: skip
def test_weights_load_in_the_cycles_of_the_model(index: int, inputs: int) -> None:
    which = DESIGNS[index]
    fmt = which.engine.fmt
    rng = np.random.default_rng(inputs)
    shape = Shape(n=inputs, m=11, k=1, rows=1, columns=1, relu=False)
    kernels, deltas = _words(rng, fmt, 11, inputs, 1, 1), _words(rng, fmt, 1, 1, 1, 11)
    golden = delta_convolution(deltas, kernels, shape, fmt, which.engine.summation)
    behind = Shape(n=1, m=inputs, k=1, rows=1, columns=1, relu=False)
    unpooled = shape if which.before else behind
    one = Case(shape, unpooled, which, deltas, kernels, b"", golden, {}, None)
    [record] = run([one])
    assert record.outcome.status["status_kernel_load"] == delta_load(shape, which.engine).cycles + 1


@pytest.mark.parametrize("inputs", [1, 2])
def test_a_layer_of_few_inputs_writes_one_word_again_and_again(inputs: int) -> None:
    """A single input: each weight goes into the word of the one before it."""
    which = DESIGNS[4]
    rng = np.random.default_rng(inputs)
    shape = Shape(n=inputs, m=9, k=1, rows=1, columns=1, relu=False)
    kernels, deltas = _words(rng, BINARY32, 9, inputs, 1, 1), _words(rng, BINARY32, 2, 1, 1, 9)
    golden = delta_convolution(deltas, kernels, shape, BINARY32, which.engine.summation)
    one = Case(shape, shape, which, deltas, kernels, b"", golden, {}, None)
    for record in (*run([one]), *run([one], array="rtl")):
        model = delta_cycles(shape, shape, 1, 2, which.engine)
        assert record.outcome.status["status_kernel_load"] == model.kernel_load


@pytest.mark.parametrize("port", [1, 2])
def test_taps_that_no_output_fills_are_zero(port: int) -> None:
    """Not a number lies there from the run before, infinity beside them: products would be seen."""
    which = DESIGNS[1]._replace(engine=replace(DESIGNS[1].engine, n_cu=port, kernel_port=port))
    shape = Shape(n=3, m=18, k=1, rows=1, columns=1, relu=False)
    rng = np.random.default_rng(5)
    behind = Shape(n=1, m=3, k=1, rows=1, columns=1, relu=False)
    cases = []
    for m, infinite in ((18, False), (10, True)):
        kernels, deltas = _words(rng, BINARY32, m, 3, 1, 1), _words(rng, BINARY32, 1, 1, 1, m)
        kernels[:] = kernels if infinite else BINARY32.nan
        kernels[9:10] = BINARY32.inf if infinite else BINARY32.nan
        part = replace(shape, m=m)
        golden = delta_convolution(deltas, kernels, part, BINARY32, which.engine.summation)
        cases.append(Case(part, behind, which, deltas, kernels, b"", golden, {}, None))
    for record in (run(cases)[1], run(cases, array="rtl")[1]):
        assert BINARY32.nan not in record.words("m_axis_delta")


@pytest.mark.parametrize("index", [0, 6])
def test_a_misplaced_last_is_told_and_forgotten(index: int) -> None:
    one = case(3, index, pressure=False)
    good = one.run
    words = np.append(good.words["s_axis_kernel"], [0] * one.design.engine.kernel_port)
    wrong = Run(config=good.config, words={**good.words, "s_axis_kernel": words}, stalls={})
    records = run_job(Job(delta_top(one.design, "behavioural"), [wrong, good], limit=3000), "myhdl")
    assert [each.outcome.status["status_framing_error"] for each in records] == [1, 0]


@pytest.mark.ghdl
@pytest.mark.parametrize("index", [6, *in_full(0, 3, 7)])
def test_vhdl_gives_the_same_record(index: int) -> None:
    cases = mixed(80, index)
    assert_same(run(cases, "ghdl", "rtl"), run(cases))


@pytest.mark.verilator
@pytest.mark.parametrize("index", [1, *in_full(3, 7)])
def test_verilog_gives_the_same_record(index: int) -> None:
    cases = mixed(90, index)
    assert_same(run(cases, "verilator", "rtl"), run(cases))


@pytest.mark.verilator
@pytest.mark.parametrize("index", in_full(*range(13)))
def test_many_random_layers_in_verilog_with_arrays_in_cpp(index: int) -> None:
    some = [mixed(1000 + 10 * seed, index) for seed in range(25)]
    many_in_verilog(run, [case for each in some for case in each])
