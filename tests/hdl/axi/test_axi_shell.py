"""Tops in their AXI shells: full runs through AXI alone, on the exported VHDL."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np
import pytest

from marks import in_full
from merp.cosim.engines.axi_engine import run_axi
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.delta import delta_run, delta_top, expect_delta
from merp.cosim.machines.cnn_merp.phases.forward import expect_forward, forward_run, forward_top
from merp.cosim.machines.cnn_merp.phases.kernel_update import (
    expect_update,
    kernel_update_run,
    kernel_update_top,
)
from merp.cosim.phases.audit.audit import audit
from merp.cosim.phases.expectation import Expectation
from merp.models.arithmetic.relu import relu
from merp.models.base.bits import Bits
from merp.models.base.formats import BINARY32
from merp.models.base.rates import Rates
from merp.models.base.register_map import FLAGS
from merp.models.base.shape import Pool, Shape
from merp.models.golden.convolution import convolution
from merp.models.golden.delta import delta_convolution
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient, update
from merp.models.golden.state import keep_state, packed
from merp.models.golden.super_layer import super_layer
from merp.models.golden.unpool import unpool
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign, size_unpool
from merp.testbenches.axi.axi_protocol import CHANNELS
from merp.testbenches.axi.conduct import Conduct
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

SHAPE = Shape(n=2, m=3, k=3, rows=5, columns=6, pad=1, pool=Pool(kind="max", window=2, stride=2))
DESIGN = EngineDesign(
    k=3, n_cu=1, r=1, d=2, mul_latency=1, add_latency=2, kernel_words=12, groups=4, row_words=24,
    max_size=8, max_maps=4, max_images=2, max_stride=2, fifo_words=8, pool_window=3,
    pool_overlap=2, pool_words=32, state=True,
)  # fmt: skip
PLAIN = replace(DESIGN, state=False)
BY_ROWS = replace(PLAIN, cu_kind="fused", ku_kind="row", ku_lanes=2)
EARLIER = Shape(n=1, m=2, k=1, rows=10, columns=13, pool=SHAPE.pool)  # in front of SHAPE
UNDONE = size_unpool([SHAPE, EARLIER], add_latency=2, mul_latency=1, max_images=2)
IMAGES = 2
RATES = Rates(rate=0x3D800000, momentum=0x3F000000, weight_decay=0x3E000000)  # 1/16, 1/2, 1/8
PATIENCE = 800  # cycles after which software gives a run up
SURPLUS = 2  # words that a stream is too long


class Case(NamedTuple):
    """A top, a run of it, and what it must do."""

    top: Top
    run: Run
    expected: Expectation


def words(rng: np.random.Generator, *size: int) -> Bits:
    return rng.uniform(-2, 2, size).astype(np.float32).view(np.uint32)


def forward_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    x = words(rng, IMAGES, SHAPE.rows, SHAPE.columns, SHAPE.n)
    kernels, bias = words(rng, SHAPE.m, SHAPE.n, 3, 3), words(rng, SHAPE.m)
    sums = convolution(x, kernels, bias, 1, SHAPE.pad, BINARY32, DESIGN.summation)
    state = packed(keep_state(relu(sums, BINARY32), SHAPE, "pooled", BINARY32), SHAPE, BINARY32)
    golden = super_layer(x, kernels, bias, SHAPE, BINARY32, DESIGN.summation)
    return Case(
        forward_top(DESIGN),
        forward_run(SHAPE, DESIGN, x, kernels, bias),
        expect_forward(SHAPE, IMAGES, DESIGN, golden, state),
    )


def delta_case(seed: int, before: bool = True, engine: EngineDesign = PLAIN) -> Case:
    rng = np.random.default_rng(seed)
    design = DeltaDesign(engine, UNDONE, before)
    shape = SHAPE if before else replace(SHAPE, pool=None)
    unpooled = shape if before else EARLIER
    kernels = words(rng, shape.m, shape.n, 3, 3)
    deltas = words(rng, IMAGES, shape.pooled_rows, shape.pooled_columns, shape.m)
    activation = words(rng, IMAGES, unpooled.out_rows, unpooled.out_columns, unpooled.m)
    state = keep_state(activation, unpooled, "pooled", BINARY32)
    if before:
        expanded = unpool(deltas, state, unpooled, BINARY32)
        golden = delta_convolution(expanded, kernels, shape, BINARY32, PLAIN.summation)
    else:
        sums = delta_convolution(deltas, kernels, shape, BINARY32, PLAIN.summation)
        golden = unpool(sums, state, unpooled, BINARY32)
    return Case(
        delta_top(design),
        delta_run(shape, unpooled, design, deltas, kernels, packed(state, unpooled, BINARY32)),
        expect_delta(shape, unpooled, IMAGES, design, golden),
    )


def update_case(
    seed: int, design: EngineDesign = PLAIN, undone: UnpoolDesign | None = None
) -> Case:
    rng = np.random.default_rng(seed)
    shape = SHAPE if undone else replace(SHAPE, pool=None)
    x = words(rng, IMAGES, shape.rows, shape.columns, shape.n)
    deltas = words(rng, IMAGES, shape.pooled_rows, shape.pooled_columns, shape.m)
    kernels, bias = words(rng, shape.m, shape.n, 3, 3), words(rng, shape.m)
    past = words(rng, *kernels.shape), words(rng, *bias.shape)
    expanded, kept = deltas, b""
    if undone:
        activation = words(rng, IMAGES, shape.out_rows, shape.out_columns, shape.m)
        state = keep_state(activation, shape, "pooled", BINARY32)
        expanded, kept = unpool(deltas, state, shape, BINARY32), packed(state, shape, BINARY32)
    found = (
        kernel_gradient(x, expanded, shape, BINARY32, design.summation),
        bias_gradient(expanded, BINARY32),
    )
    (kernels_new, kernels_past), (bias_new, bias_past) = (
        update(old, velocity, gradient, RATES, BINARY32)
        for old, velocity, gradient in zip((kernels, bias), past, found, strict=True)
    )
    return Case(
        kernel_update_top(design, rule=RATES.rule, undone=undone),
        kernel_update_run(
            shape, design, x, deltas, (kernels, bias), RATES, past, undone=undone, state=kept
        ),
        expect_update(
            shape, IMAGES, design, kernels_new, bias_new,
            velocities=(kernels_past, bias_past), before=undone is not None,
        ),
    )  # fmt: skip


CASES: dict[str, Callable[[int], Case]] = {
    "fp": forward_case,
    "dp": delta_case,
    "dp-behind": partial(delta_case, before=False),
    "ku": update_case,
    "ku-row": partial(update_case, design=BY_ROWS),
    "ku-pooled": partial(update_case, undone=UNDONE),
}

PACKED = {
    "ku-packed": partial(update_case, design=replace(PLAIN, kernel_port=4)),
    "ku-wide": partial(update_case, design=replace(PLAIN, map_port=4)),
    "dp-wide": partial(delta_case, before=False, engine=replace(PLAIN, map_port=4)),
}
"""Several elements to a beat."""

CYCLES = {"fp": 590, "dp": 590, "ku": 450}  # of a run without pauses, or a little less


def pattern(rng: np.random.Generator) -> tuple[int, ...]:
    density = rng.choice([0.15, 0.5, 0.9])
    return (*(int(bit) for bit in rng.random(int(rng.integers(2, 30))) < density), 1)


def under_pressure(case: Case, seed: int, reset: bool) -> tuple[Run, Conduct]:
    """The run of a case with pauses on every channel; with a reset in mid-stream, if wanted."""
    rng = np.random.default_rng([seed, 0xA71])
    run = replace(
        case.run,
        stalls={pin.name: pattern(rng) for pin in case.top.ports.streams},
        reset_at=int(rng.integers(40, 400)) if reset else None,
    )
    return run, Conduct(pauses={channel: pattern(rng) for channel in CHANNELS})


def check(cases: list[Case], runs: list[Run], conducts: list[Conduct]) -> list[RunRecord]:
    """Play runs in one simulation, and audit each."""
    records = run_axi(Job(cases[0].top, runs, limit=4000), conducts)
    for case, record in zip(cases, records, strict=True):
        found = audit(record, case.expected)
        assert found.passed, found.failures
        assert found.bit_exact
    return records


@pytest.mark.ghdl
@pytest.mark.parametrize(
    "phase", ["fp", *in_full("ku-row", "dp", "ku", "ku-packed", "ku-wide", "dp-wide")]
)
def test_runs_through_axi_are_those_of_the_bare_top(phase: str) -> None:
    make = (CASES | PACKED)[phase]
    case, other = make(0), make(1)
    run, conduct = under_pressure(other, 0, reset=True)
    pressed, plain = check([other, case], [run, case.run], [conduct, Conduct()])
    assert (pressed.outcome.resets, plain.outcome.resets) == (1, 0)
    # Without pauses the shell costs no cycle: the same record, to the cycle of each first word.
    [bare] = run_job(Job(case.top, [case.run]), "myhdl")
    assert plain.differences(bare) == []


class Step(NamedTuple):
    """A run, how it is conducted, and whether software is told of a framing error."""

    case: Case
    conduct: Conduct
    framing_error: bool = True
    reset_at: int | None = None


def misplaced(name: str, cases: Iterator[Case]) -> Iterator[Step]:
    """Of an input stream: tlast early and at the end, early, missing; and where it belongs.

    The last of these runs is looked at from its first cycle on: no error is left.
    """
    for lasts in ((-2, -1), (0,), ()):
        case = next(cases)
        size = len(case.run.words[name])
        yield Step(case, Conduct(lasts={name: [place % size for place in lasts]}))
    yield Step(case := next(cases), meddled(case, 0), framing_error=False)


def meddled(case: Case, seed: int) -> Conduct:
    """Registers are accessed at random during the run."""
    ports = case.expected.ports.items()
    return Conduct(meddle=seed, counted={f"status_{name}": port.stream for name, port in ports})


def too_short(name: str, case: Case, abort: bool) -> Step:
    """A stream ends, with its tlast, after half of its words; a reset or an abort follows."""
    half = len(case.run.words[name]) // 2
    conduct = Conduct(
        sent={name: case.run.words[name][:half].tolist()},
        lasts={name: (half - 1,)},
        told=1 << FLAGS.index("busy") | 1 << FLAGS.index("framing_error"),
        abort=abort,
    )
    return Step(case, conduct, framing_error=False, reset_at=PATIENCE)


def too_long(cases: Iterator[Case]) -> Iterator[Step]:
    """All streams are SURPLUS words too long: the words stay where they are.

    Without a reset they are the first ones of the next run; a reset of all takes them away.
    """
    first, second, plain, third, after = (next(cases) for _ in range(5))
    yield Step(first, surplus(first, second))
    rest = {name: words[SURPLUS:].tolist() for name, words in second.run.words.items()}
    yield Step(second, Conduct(sent=rest))
    yield Step(plain, Conduct(), framing_error=False)
    yield Step(third, replace(surplus(third, plain), reset_pending=True))
    yield Step(after, Conduct(), framing_error=False)


def surplus(case: Case, following: Case) -> Conduct:
    """What a case sends is followed by the first words of another case, and tlast."""
    sent = {
        name: np.concatenate((words, following.run.words[name][:SURPLUS])).tolist()
        for name, words in case.run.words.items()
    }
    return Conduct(sent=sent, lasts={name: (len(words) - 1,) for name, words in sent.items()})


@pytest.mark.full
@pytest.mark.ghdl
@pytest.mark.parametrize("phase", CASES)
def test_a_stream_of_another_length_is_told_of_and_the_run_after_it_is_right(phase: str) -> None:
    """Each input stream by itself, and all of them at once."""
    cases = map(CASES[phase], count(2))
    names = list(next(cases).run.words)
    steps = [step for name in names for step in misplaced(name, cases)]
    steps += [too_short(name, next(cases), abort) for name in names for abort in (False, True)]
    steps += too_long(cases)
    runs = [replace(step.case.run, reset_at=step.reset_at) for step in steps]
    records = run_axi(Job(steps[0].case.top, runs, limit=4000), [step.conduct for step in steps])
    for step, record in zip(steps, records, strict=True):
        told = record.outcome.status["status_framing_error"]
        assert told == int(step.framing_error), step.conduct
        assert record.outcome.resets == (step.reset_at is not None)
        # A run that takes all of its words is right whatever is said of its last one.
        status = {**record.outcome.status, "status_framing_error": 0}
        outcome = replace(record.outcome, status=status)
        found = audit(replace(record, outcome=outcome), step.case.expected)
        assert found.passed, (step.conduct, found.failures)
        assert found.bit_exact
        # ... and in the same cycles.
        assert (outcome.first, outcome.last) == (records[0].outcome.first, records[0].outcome.last)


@pytest.mark.full
@pytest.mark.ghdl
@pytest.mark.parametrize("phase", CASES)
def test_a_run_takes_no_notice_of_register_accesses_nor_of_an_interrupt_left(phase: str) -> None:
    cases = [CASES[phase](seed) for seed in (5, 5, 6)]
    pressed, conduct = under_pressure(cases[2], 6, reset=False)
    conducts = [
        replace(meddled(cases[0], 0), reset_pending=True),
        Conduct(),
        replace(meddled(cases[2], 1), pauses=conduct.pauses),
    ]
    first, second, _ = check(cases, [cases[0].run, cases[1].run, pressed], conducts)
    assert first.differences(second) == []


def aborted(phase: str, seeds: range) -> None:
    """Runs that software aborts, each at a moment of its own, and begins again.

    Every other one has pauses on every channel. The last one is aborted when its interrupt is
    pending, so that the plain one behind it is the one to compare with.
    """
    steps: list[Step] = []
    for seed in seeds:
        moment = int(np.random.default_rng([seed, 0xAB027]).integers(1, CYCLES[phase]))
        case, conduct = CASES[phase](seed), Conduct()
        if seed % 2:
            run, conduct = under_pressure(case, seed, reset=False)
            case = case._replace(run=run)
        steps.append(Step(case, replace(conduct, abort=True), reset_at=moment))
    end = seeds.stop
    steps.append(Step(CASES[phase](end), Conduct(reset_pending=True, abort=True)))
    steps.append(Step(CASES[phase](end + 1), Conduct()))
    runs = [replace(step.case.run, reset_at=step.reset_at) for step in steps]
    records = check([step.case for step in steps], runs, [step.conduct for step in steps])
    plain = records[-1].outcome
    for step, record in zip(steps, records, strict=True):
        outcome = record.outcome
        assert outcome.resets == (step.reset_at is not None)
        if not step.conduct.pauses:
            assert (outcome.first, outcome.last, outcome.cycles) == (
                plain.first, plain.last, plain.cycles
            )  # fmt: skip


@pytest.mark.ghdl
@pytest.mark.full
def test_a_run_that_software_aborts_leaves_nothing_behind() -> None:
    aborted("fp", range(2))


@pytest.mark.ghdl
@pytest.mark.full
@pytest.mark.parametrize("phase", CYCLES)
def test_aborts_at_25_moments(phase: str) -> None:
    aborted(phase, range(2, 27))


def test_a_run_ends_with_its_later_stream() -> None:
    case = update_case(3)
    run = replace(case.run, stalls={"m_axis_bias_velocity": (0, 0, 0, 0, 0, 1)})
    [record] = run_job(Job(case.top, [run]), "myhdl")
    assert record.outcome.last["m_axis_bias_velocity"] > record.outcome.last["m_axis_bias"] + 1
    assert audit(record, case.expected).passed


@pytest.mark.ghdl
@pytest.mark.full
@pytest.mark.parametrize("phase", CASES)
def test_pauses_on_every_channel(phase: str) -> None:
    cases = [CASES[phase](seed) for seed in range(25)]
    pressed = [under_pressure(case, seed, seed % 5 == 4) for seed, case in enumerate(cases)]
    records = check(cases, [run for run, _ in pressed], [conduct for _, conduct in pressed])
    assert sum(record.outcome.resets for record in records) == 5
