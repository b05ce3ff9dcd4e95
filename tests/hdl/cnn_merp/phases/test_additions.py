"""Sums that start at another layer's output, or at a delta: bits, counts, cycles, bad streams."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from marks import few, in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.phases.delta import delta_run, delta_top, expect_delta
from merp.cosim.machines.cnn_merp.phases.forward import expect_forward, forward_run, forward_top
from merp.cosim.phases.audit.run_and_audit import Audited, run_and_audit
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.bits import Bits
from merp.models.base.delta_shape import delta_shape, plain_inputs
from merp.models.base.errors import BadInput
from merp.models.base.input_part import ADDING, WHOLE, part_of
from merp.models.base.shape import Pool, Shape
from merp.models.golden.convolution import from_maps
from merp.models.golden.delta import delta_convolution
from merp.models.golden.state import State, keep_state, packed
from merp.models.golden.stored import Stored
from merp.models.golden.super_layer import super_layer
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.cycles import delta_cycles, forward_cycles
from merp.models.machines.cnn_merp.flow import added_flow
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.forward_registers import forward_registers
from merp.models.machines.cnn_merp.params.registers import registers
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.testbenches.axi.axi_top import axi_registers_of
from merp.testbenches.cnn_merp.random_layers import (
    ELABORATIONS,
    FOLDING,
    SHAPED,
    WIDE,
    LayerCase,
    connected_case,
    random_case,
)
from merp.testbenches.top.run import Run

DESIGNS = tuple(
    replace(base, added=True, **more)
    for base, more in (
        *((each, {}) for each in ELABORATIONS),
        (ELABORATIONS[1], {"partial": True, "state": True}),
        (ELABORATIONS[10], {"partial": True}),
        (ELABORATIONS[11], {"state": True, "kernel_port": 4}),
        (SHAPED[4], {}),
        (FOLDING[3], {}),
        (FOLDING[5], {"partial": True}),
        (ELABORATIONS[2], {"map_port": 4}),
        (ELABORATIONS[5], {"map_port": 8, "partial": True, "state": True}),
        (ELABORATIONS[10], {"map_port": 2}),
        (WIDE[7], {"map_port": 2}),
    )
)
"""With and without partial sums and state, wide accumulators, smaller and folded kernels."""


def words_of(seed: int, fmt, size: tuple[int, ...]) -> Bits:
    """Numbers of about 1, zeros of both signs, and now and then an infinity or a NaN."""
    rng = np.random.default_rng([seed, 0xADD])
    words = rng.integers(0, 2, size) << (fmt.width - 1)
    words |= rng.integers(fmt.bias - 2, fmt.bias + 2, size) << fmt.frac_bits
    words |= rng.integers(0, 1 << fmt.frac_bits, size)
    words[rng.random(size) < 0.1] = 0
    words[rng.random(size) < 0.05] = 1 << fmt.width - 1
    if seed % 3 == 0:
        words[rng.random(size) < 0.02] = fmt.inf
        words[rng.random(size) < 0.02] = fmt.nan
    return words.astype(np.uint32)


def stalled(seed: int, stalls: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """``stalls`` and those of what is added, which is slow, or starts and stops."""
    rng = np.random.default_rng([seed, 0x57A])
    share = rng.choice([0.2, 0.6, 0.95])
    return stalls | {"s_axis_add": (*(int(bit) for bit in rng.random(13) < share), 1)}


def layer_case(seed: int, design: EngineDesign, pressure: int | None = 0) -> LayerCase:
    """A convolution, or on a design for them now and then a fully connected layer."""
    if design.folded and seed % 2:
        return connected_case(seed, design, pressure)
    return random_case(seed, design, pressure)


def forward_pass(
    seed: int, design: EngineDesign, pressure: int | None = 0, adds: bool = True
) -> GroupPass:
    """Forward propagation of a random layer, that adds maps or does not."""
    case = layer_case(seed, design, pressure)
    shape, images = case.shape, len(case.x)
    size = images, shape.out_rows, shape.out_columns, shape.m
    add = words_of(seed, design.fmt, size) if adds else None
    operands = case.x, case.kernels, case.bias
    summation = design.summation
    golden = super_layer(*operands, shape, design.fmt, summation, add)
    state = None
    if design.state:
        plain = replace(shape, pool=None)
        sums = super_layer(*operands, plain, design.fmt, summation, add)
        state = packed(keep_state(sums, shape, "pooled", design.fmt), shape, design.fmt)
    part = ADDING if adds else WHOLE
    stalls = case.stalls if pressure is None else stalled(seed, case.stalls)
    run = forward_run(shape, design, *operands, stalls, case.reset_at, part, add)
    return GroupPass(run, expect_forward(shape, images, design, golden, state, part))


def delta_design_of(design: EngineDesign) -> DeltaDesign:
    """``design`` without what forward propagation alone has, and un-pooling behind it."""
    engine = replace(
        design, pool_window=1, pool_overlap=1, pool_words=1, average=False, state=False,
        d=max(2, design.d),
    )  # fmt: skip
    undone = UnpoolDesign(
        fmt=design.fmt, window=2, overlap=1, words=400, max_size=24, max_maps=128, max_images=4,
        average=False, add_latency=2, mul_latency=1,
    )  # fmt: skip
    return DeltaDesign(engine, undone, before=False)


@dataclass(frozen=True)
class Back:
    """A delta propagation; ``shape`` and ``unpooled`` as of ``delta_run``."""

    shape: Shape
    unpooled: Shape
    images: int
    made: GroupPass


def delta_pass(seed: int, design: DeltaDesign, pressure: int | None = 0, adds: bool = True) -> Back:
    """Delta propagation to a layer that is pooled, has ReLU alone, or has neither."""
    engine, tries = design.engine, seed
    while True:
        case = layer_case(tries, engine, pressure)
        shape = replace(case.shape, pool=None, relu=False)
        try:
            check_fits(delta_shape(shape), len(case.x), engine, "delta")
            break
        except (BadInput, ValueError):
            tries += 1000
    images, fmt = len(case.x), engine.fmt
    pool = Pool(window=2, stride=2) if seed % 3 == 0 else None
    scale = 2 if pool else 1
    unpooled = Shape(
        n=1, m=shape.n, k=1, rows=scale * shape.rows, columns=scale * shape.columns,
        relu=seed % 3 < 2, pool=pool,
    )  # fmt: skip
    deltas = words_of(seed + 1, fmt, (images, shape.out_rows, shape.out_columns, shape.m))
    add = words_of(seed + 2, fmt, (images, shape.rows, shape.columns, shape.n)) if adds else None
    activation = words_of(seed + 4, fmt, (images, unpooled.out_rows, unpooled.out_columns, shape.n))
    state = keep_state(activation, unpooled, "pooled", fmt)
    sums = delta_convolution(deltas, case.kernels, shape, fmt, engine.summation, add)
    golden = unpool(sums, state, unpooled, fmt)
    stalls = {}
    if pressure is not None:
        names = {"s_axis_map": "s_axis_delta", "m_axis_map": "m_axis_delta"}
        own = {names.get(key, key): each for key, each in case.stalls.items()}
        own.pop("s_axis_bias", None)
        stalls = stalled(seed, own)
    part = ADDING if adds else WHOLE
    run = delta_run(
        shape, unpooled, design, deltas, case.kernels, packed(state, unpooled, fmt), part,
        add=None if add is None else Stored(plain_inputs(shape), add, State(kind="pooled")),
    ).under(stalls, case.reset_at)  # fmt: skip
    return Back(
        shape, unpooled, images,
        GroupPass(run, expect_delta(shape, unpooled, images, design, golden, part)),
    )  # fmt: skip


def check(found: list[Audited]) -> None:
    for each in found:
        assert each.audit.failures == ()
        assert each.audit.bit_exact


def forward_checked(
    index: int, seeds: range, engine: str = "myhdl", array: str = "behavioural"
) -> None:
    """Runs back to back, every third one without an addition."""
    design = DESIGNS[index]
    passes = [forward_pass(seed, design, adds=seed % 3 != 1) for seed in seeds]
    check(run_and_audit(forward_top(design, array), passes, engine))


def delta_checked(
    index: int, seeds: range, engine: str = "myhdl", array: str = "behavioural"
) -> None:
    design = delta_design_of(DESIGNS[index])
    passes = [delta_pass(seed, design, adds=seed % 3 != 1).made for seed in seeds]
    check(run_and_audit(delta_top(design, array), passes, engine))


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", few(range(22), 0, 2, 11, 14, 17, 21))
def test_forward_adds_maps(index: int) -> None:
    forward_checked(index, range(10 * index, 10 * index + 3))


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", few(range(22), 5, 13, 18, 21))
def test_deltas_start_at_others(index: int) -> None:
    delta_checked(index, range(10 * index, 10 * index + 3))


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("index", range(len(DESIGNS)))
def test_many_layers_add(index: int) -> None:
    seeds = range(1000 + 20 * index, 1020 + 20 * index)
    forward_checked(index, seeds, "verilator")
    delta_checked(index, seeds, "verilator")


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("index", [20, *in_full(2, 13, 16)])
def test_verilog_adds(index: int) -> None:
    forward_checked(index, range(6), "verilator", "rtl")
    delta_checked(index, range(6), "verilator", "rtl")


@pytest.mark.full
@pytest.mark.ghdl
@pytest.mark.parametrize("index", [12, *in_full(5, 19, 21)])
def test_vhdl_adds(index: int) -> None:
    forward_checked(index, range(2), "ghdl", "rtl")
    delta_checked(index, range(2), "ghdl", "rtl")


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", few([0, 2, 3, 4, 5, 8, 10, 13, 18, 19, 20, 21], 2, 18))
def test_every_cycle_is_that_of_the_model(index: int) -> None:
    design = replace(DESIGNS[index], fifo_words=400)
    passes = [forward_pass(seed, design, None) for seed in range(4)]
    found = run_and_audit(forward_top(design, "behavioural"), passes, "myhdl")
    for seed, each in enumerate(found):
        case = layer_case(seed, design, None)
        flow = added_flow(case.shape, len(case.x), design)
        cycles = each.audit.cycles
        assert (cycles["fill"], cycles["issue"]) == (flow.fill, flow.issue)
        assert (cycles["stall_input"], cycles["stall_hazard"]) == (
            flow.stall_input, flow.stall_hazard,
        )  # fmt: skip
        counted = forward_cycles(case.shape, len(case.x), design, ADDING)
        assert counted.fill == flow.fill


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", [2, 10, 18, *in_full(5, 13, 19, 20, 21)])
def test_every_cycle_of_deltas_is_that_of_the_model(index: int) -> None:
    design = delta_design_of(replace(DESIGNS[index], fifo_words=400))
    backs = [delta_pass(seed, design, None) for seed in (1, 2, 4, 5)]
    found = run_and_audit(delta_top(design, "behavioural"), [each.made for each in backs], "myhdl")
    for back, each in zip(backs, found, strict=True):
        model = delta_cycles(
            back.shape, back.unpooled, back.shape.n, back.images, design.engine, ADDING
        )
        cycles = each.audit.cycles
        assert (cycles["fill"], cycles["issue"]) == (model.fill, model.issue)


def test_partial_sums_and_additions_take_turns() -> None:
    """Sums that come in as a stream give what they give when they are made here."""
    design = DESIGNS[13]
    case = random_case(8, design, None)
    shape, images = case.shape, len(case.x)
    add = words_of(8, design.fmt, (images, shape.out_rows, shape.out_columns, shape.m))
    golden = super_layer(case.x, case.kernels, case.bias, shape, design.fmt, design.summation, add)
    start, part = from_maps(add, design.fmt, design.summation, case.bias), part_of(1, 2)
    partial = GroupPass(
        forward_run(shape, design, case.x, case.kernels, start, part=part),
        expect_forward(shape, images, design, golden, part=part),
    )
    adding = GroupPass(
        forward_run(shape, design, case.x, case.kernels, case.bias, part=ADDING, add=add),
        expect_forward(shape, images, design, golden, part=ADDING),
    )
    plain = forward_pass(8, design, None, adds=False)
    passes = [partial, adding, partial, plain, adding]
    check(run_and_audit(forward_top(design, "behavioural"), passes, "myhdl"))


@pytest.mark.sample(1)
@pytest.mark.parametrize("index", [1, 18])
def test_words_of_the_next_run_wait_for_its_biases(index: int) -> None:
    """A source that runs on offers them while this run is still at work."""
    design = DESIGNS[index]
    runs = (forward_pass(seed, design, None) for seed in range(2, 99, 2))
    whole = (each for each in runs if not len(each.run.words["s_axis_add"]) % design.map_port)
    first, second = next(whole), next(whole)
    own = first.run.words["s_axis_add"]
    more = np.concatenate([own, second.run.words["s_axis_add"][: 3 * design.map_port]])
    early = Run(first.run.config, dict(first.run.words) | {"s_axis_add": more})
    top = forward_top(design, "behavioural")
    one, two = run_job(Job(top, [early, second.run]), "myhdl")
    assert one.outcome.status["status_add_in"] == len(own)
    for record, each in ((one, first), (two, second)):
        golden = each.expected.ports["map_out"].golden
        assert golden is not None
        assert np.array_equal(record.words("m_axis_map"), golden.reshape(-1))


@pytest.mark.sample(1)
@pytest.mark.parametrize(("words", "index"), [(-1, 2), (1, 2), (4, 18)])
def test_a_misplaced_last_is_told_and_forgotten(words: int, index: int) -> None:
    design = DESIGNS[index]
    each = forward_pass(3, design, None)
    added = each.run.words["s_axis_add"]
    wrong = added[:-1] if words < 0 else np.append(added, added[:words])
    spoilt = Run(each.run.config, dict(each.run.words) | {"s_axis_add": wrong})
    top = forward_top(design, "behavioural")
    if words < 0:
        with pytest.raises(Exception, match=r"s_axis_add \d+ words|s_axis_add"):
            run_job(Job(top, [spoilt], limit=300), "myhdl")
        return
    records = run_job(Job(top, [spoilt, each.run]), "myhdl")
    told = [record.outcome.status["status_framing_error"] for record in records]
    assert told == [1, 0]


def test_a_design_that_adds_nothing_is_as_ever() -> None:
    plain = ELABORATIONS[2]
    assert "added" not in repr(plain)
    assert repr(replace(plain, added=True)) == repr(plain)[:-1] + ", added=True)"
    shape = Shape(n=1, m=1, k=2, rows=3, columns=3)
    assert not any("pass_config" in name for name in registers(shape, 1, plain))
    adding = registers(shape, 1, replace(plain, added=True), ADDING)
    assert adding["pass_config_added"] == 1
    assert "pass_config_partial_in" not in adding
    wide = replace(plain, added=True, map_port=4)
    assert not any("add_config" in name for name in forward_registers(shape, 1, plain))
    assert forward_registers(shape, 1, wide)["add_config_words"] == 0
    assert forward_registers(shape, 1, wide, ADDING)["add_config_words"] == shape.m * 4
    known = axi_registers_of(forward_top(wide))["add_config_words"]
    assert (known.least, known.most >= 4) == (0, True)
