"""Deltas at pooled resolution that sums start at, expanded on their way: bits, counts, streams."""

from dataclasses import replace

import numpy as np
import pytest

from marks import in_full, rows_in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.phases.delta import delta_run, delta_top, expect_delta
from merp.cosim.phases.audit.run_and_audit import Audited, run_and_audit
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.bits import Bits
from merp.models.base.delta_shape import delta_shape, plain_inputs
from merp.models.base.errors import BadInput
from merp.models.base.input_part import ADDING, WHOLE
from merp.models.base.shape import Pool, Shape
from merp.models.golden.delta import delta_convolution
from merp.models.golden.state import State, keep_state, packed
from merp.models.golden.stored import Stored
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.delta_registers import delta_registers
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.testbenches.axi.axi_top import axi_registers_of
from merp.testbenches.cnn_merp.random_layers import (
    ELABORATIONS,
    FOLDING,
    SHAPED,
    WIDE,
    connected_case,
    random_case,
    random_hang,
)
from merp.testbenches.top.run import Run


def design_of(
    base: EngineDesign,
    average: bool = False,
    overlap: int = 2,
    hanging: tuple[bool, bool] = (False, False),
    far: bool = False,
    **more: int,
) -> DeltaDesign:
    engine = replace(
        base, pool_window=1, pool_overlap=1, pool_words=1, average=False, state=False,
        d=max(2, base.d), added=True, **more,
    )  # fmt: skip
    own = UnpoolDesign(
        fmt=base.fmt, window=3, overlap=2, words=400, max_size=24, max_maps=128, max_images=4,
        average=average, add_latency=2, mul_latency=1, hanging=hanging[0],
        far=far,
    )  # fmt: skip
    # Another elaboration than the deltas', so that no width is taken from the wrong one.
    start = replace(
        own, window=4, overlap=overlap, words=300, max_maps=64, average=not average,
        hanging=hanging[1],
    )  # fmt: skip
    return DeltaDesign(engine, own, before=True, add_unpool=start)


DESIGNS = (
    design_of(ELABORATIONS[0]),
    design_of(ELABORATIONS[5], average=True, overlap=1),
    design_of(ELABORATIONS[2]),
    design_of(ELABORATIONS[10], partial=True),
    design_of(FOLDING[3], average=True),
    design_of(SHAPED[4], overlap=3),
    design_of(ELABORATIONS[0], hanging=(False, True)),
    design_of(ELABORATIONS[5], hanging=(True, True)),
    design_of(ELABORATIONS[5], overlap=3, hanging=(True, True), far=True),
    # Several to a beat: of fewer units, of more, of folded layers.
    design_of(ELABORATIONS[5], average=True, map_port=4),
    design_of(ELABORATIONS[10], partial=True, map_port=2),
    design_of(WIDE[8], hanging=(False, True)),
)
"""Trees, two positions in turn, wide accumulators with partial sums, folded and smaller kernels,
windows that hang over the edges of either delta or of both."""

PLAIN, STORED = "as it is", "stored"
KINDS = (STORED, PLAIN, None)


def words_of(rng: np.random.Generator, fmt, *size: int) -> Bits:
    """Numbers of about 1, zeros of both signs, and now and then an infinity or a NaN."""
    words = rng.integers(0, 2, size) << (fmt.width - 1)
    words |= rng.integers(fmt.bias - 2, fmt.bias + 2, size) << fmt.frac_bits
    words |= rng.integers(0, 1 << fmt.frac_bits, size)
    words[rng.random(size) < 0.1] = 0
    words[rng.random(size) < 0.05] = 1 << fmt.width - 1
    words[rng.random(size) < 0.01] = rng.choice([fmt.inf, fmt.nan])
    return words.astype(np.uint32)


def pool_of(rng: np.random.Generator, rows: int, columns: int, undone: UnpoolDesign) -> Pool | None:
    """A pooling that fits maps of so many rows and columns, or none."""
    window = int(rng.integers(1, undone.window + 1))
    stride = int(rng.integers(-(-window // undone.overlap), 5))
    if rng.random() < 0.2 or window > min(rows, columns):
        return None
    kinds = ["max", "average"] if undone.average else ["max"]
    pool = Pool(kind=str(rng.choice(kinds)), window=window, stride=stride)
    return random_hang(rng, pool, undone.far) if undone.hanging else pool


def shape_of(seed: int, design: DeltaDesign, rng: np.random.Generator) -> tuple[Shape, int]:
    """A layer with pooling of its own, and images."""
    while True:
        folds = design.engine.folded and seed % 2
        case = (connected_case if folds else random_case)(seed, design.engine, None)
        shape, images = case.shape, len(case.x)
        pool = None if folds else pool_of(rng, shape.out_rows, shape.out_columns, design.unpool)
        shape = replace(shape, pool=pool, relu=bool(rng.random() < 0.7))
        try:
            check_fits(delta_shape(shape), images, design.engine, "delta")
        except (BadInput, ValueError):
            seed += 1000
        else:
            return shape, images


def kept(rng: np.random.Generator, shape: Shape, maps: int, images: int, fmt) -> State:
    size = images, shape.out_rows, shape.out_columns, maps
    return keep_state(words_of(rng, fmt, *size), shape, "pooled", fmt)


def delta_pass(seed: int, design: DeltaDesign, kind: str | None, stalled: bool = True) -> GroupPass:
    """Delta propagation of a random layer that starts at a stored delta, at one as it is, or +0."""
    rng = np.random.default_rng([seed, 0xADD2])
    fmt, summation = design.engine.fmt, design.engine.summation
    shape, images = shape_of(seed, design, rng)
    start = plain_inputs(shape)
    if kind == STORED:
        assert design.add_unpool is not None
        pool = pool_of(rng, shape.rows, shape.columns, design.add_unpool)
        start = replace(start, relu=bool(rng.random() < 0.7), pool=pool)
    deltas = words_of(rng, fmt, images, shape.pooled_rows, shape.pooled_columns, shape.m)
    kernels = words_of(rng, fmt, shape.m, shape.n, shape.k, shape.k)
    state = kept(rng, shape, shape.m, images, fmt)
    add = words_of(rng, fmt, images, start.pooled_rows, start.pooled_columns, shape.n)
    add_state = kept(rng, start, shape.n, images, fmt)
    summands = unpool(add, add_state, start, fmt) if kind else None
    golden = delta_convolution(
        unpool(deltas, state, shape, fmt), kernels, shape, fmt, summation, summands
    )
    stalls = {
        name: (*(int(bit) for bit in rng.random(13) < rng.choice([0.2, 0.6, 0.95])), 1)
        for name in ("s_axis_delta", "s_axis_kernel", "s_axis_state", "s_axis_add",
                     "s_axis_add_state", "m_axis_delta")
        if stalled and rng.random() < 0.6
    }  # fmt: skip
    reset_at = int(rng.integers(5, 900)) if stalled and rng.random() < 0.25 else None
    part, beside = ADDING if kind else WHOLE, start if kind else None
    run = delta_run(
        shape, shape, design, deltas, kernels, packed(state, shape, fmt), part,
        add=Stored(start, add, add_state) if kind else None,
    ).under(stalls, reset_at)  # fmt: skip
    return GroupPass(run, expect_delta(shape, shape, images, design, golden, part, beside))


def check(found: list[Audited]) -> None:
    for each in found:
        assert each.audit.failures == ()
        assert each.audit.bit_exact


def checked(index: int, seeds: range, engine: str = "myhdl", array: str = "behavioural") -> None:
    """Runs of each kind, back to back."""
    design = DESIGNS[index]
    passes = [delta_pass(seed, design, KINDS[seed % 3]) for seed in seeds]
    check(run_and_audit(delta_top(design, array), passes, engine))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("index", "first"),
    [
        (1, 43),
        (3, 23),
        (4, 27),
        (7, 70),
        (8, 43),
        (10, 27),
        *rows_in_full((0, 0), (2, 20), (5, 50), (6, 60), (9, 23)),
    ],
)
def test_sums_start_at_deltas_that_are_expanded(index: int, first: int) -> None:
    """Maxima of windows of 2; an average, of a design whose own has none; folded layers."""
    checked(index, range(first, first + 5))


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("index", range(len(DESIGNS)))
def test_many_layers_start_at_deltas_that_are_expanded(index: int) -> None:
    checked(index, range(2000 + 40 * index, 2040 + 40 * index), "verilator")


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("index", [3, *in_full(1, 8)])
def test_verilog_expands_them(index: int) -> None:
    checked(index, range(50 + 10 * index, 57 + 10 * index), "verilator", "rtl")


@pytest.mark.ghdl
@pytest.mark.parametrize("index", [*in_full(1, 7)])
def test_vhdl_expands_them(index: int) -> None:
    checked(index, range(3), "ghdl", "rtl")


@pytest.mark.sample(1)
@pytest.mark.parametrize("stream", ["s_axis_add", "s_axis_add_state", "s_axis_state"])
@pytest.mark.parametrize("index", [8, *in_full(1)])
def test_a_misplaced_last_is_told_and_forgotten(index: int, stream: str) -> None:
    """By the next run, too, that expands nothing and starts no un-pooling."""
    design = DESIGNS[index]
    more = design.engine.map_port if stream == "s_axis_add" else 1
    each, other = delta_pass(45, design, STORED, False), delta_pass(5, design, None, False)
    words = each.run.words[stream]
    assert len(words) > 1
    spoilt = Run(each.run.config, dict(each.run.words) | {stream: np.append(words, words[:more])})
    records = run_job(Job(delta_top(design, "behavioural"), [spoilt, other.run, each.run]), "myhdl")
    told = [record.outcome.status["status_framing_error"] for record in records]
    assert told == [1, 0, 0]


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", [STORED, None])
@pytest.mark.parametrize("index", [1, 8])
def test_words_of_the_next_run_wait(index: int, kind: str | None) -> None:
    """A source that runs on offers them while this run is still at work."""
    design = DESIGNS[index]
    first, second = delta_pass(45, design, kind, False), delta_pass(27, design, STORED, False)
    early = dict(first.run.words)
    for stream in ("s_axis_add", "s_axis_add_state"):
        early[stream] = np.concatenate([early[stream], second.run.words[stream][:2]])
    top = delta_top(design, "behavioural")
    one, two = run_job(Job(top, [Run(first.run.config, early), second.run]), "myhdl")
    for stream in ("add", "add_state"):
        own = len(first.run.words[f"s_axis_{stream}"])
        assert one.outcome.status[f"status_{stream}_in"] == (own if kind else 0)
    for record, each in ((one, first), (two, second)):
        golden = each.expected.ports["delta_out"].golden
        assert golden is not None
        assert np.array_equal(record.words("m_axis_delta"), golden.reshape(-1))


def test_its_registers_are_those_of_another_un_pooling() -> None:
    registers = axi_registers_of(delta_top(DESIGNS[1]))
    own, start = registers["unpool_config_window"], registers["add_unpool_config_window"]
    assert (own.most, start.most) == (3, 4)
    assert registers["add_unpool_config_stride"].least == 1
    assert "status_add_state_in" in {each.name for each in registers.registers}


@pytest.mark.parametrize("index", [5, *in_full(1, 4, 7)])
def test_their_expansion_takes_no_cycle(index: int) -> None:
    """It begins while kernels are loaded, and gives an element a cycle, as the stream does."""
    top, counted = delta_top(DESIGNS[index], "behavioural"), []
    for kind in (STORED, PLAIN):
        passes = [delta_pass(seed, DESIGNS[index], kind, False) for seed in range(15, 33, 3)]
        counted.append([each.audit.cycles for each in run_and_audit(top, passes, "myhdl")])
    assert counted[0] == counted[1]


def test_a_run_that_adds_nothing_needs_no_room_in_it() -> None:
    """Its layer may have more maps than any whose sums start at a delta."""
    design, shape = DESIGNS[0], Shape(n=70, m=1, k=1, rows=1, columns=1)
    assert design.add_unpool is not None
    assert shape.n > design.add_unpool.max_maps
    registers = delta_registers(
        shape, shape, 1, 1, design.engine, design.unpool, WHOLE, design.add_unpool
    )
    assert registers["add_unpool_config_maps"] == registers["add_unpool_config_rows"] == 1
