"""Tops in their AXI shells: full runs through AXI alone, on the exported VHDL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from marks import in_full
from merp.cosim.audit.audit import audit
from merp.cosim.engines.axi_engine import Pauses, run_axi
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import Record
from merp.cosim.phases.cnn_merp.delta import delta_run, delta_top, expect_delta
from merp.cosim.phases.cnn_merp.forward import expect_forward, forward_run, forward_top
from merp.cosim.phases.cnn_merp.kernel_update import (
    expect_update,
    kernel_update_run,
    kernel_update_top,
)
from merp.cosim.phases.expectation import Expectation
from merp.models.arithmetic.relu import relu
from merp.models.cnn_merp.phases import DeltaDesign
from merp.models.golden.convolution import convolution
from merp.models.golden.delta import delta_convolution
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient, update
from merp.models.golden.state import keep_state, packed
from merp.models.golden.super_layer import super_layer
from merp.models.golden.unpool import unpool
from merp.models.params.bits import Bits
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.unpool_design import size_unpool
from merp.models.params.formats import BINARY32
from merp.models.params.shape import Pool, Shape
from merp.testbenches.axi.axi_protocol import CHANNELS
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

SHAPE = Shape(n=2, m=3, k=3, rows=5, columns=6, pad=1, pool=Pool(kind="max", window=2, stride=2))
DESIGN = Design(
    k=3, n_cu=1, r=1, d=2, mul_latency=1, add_latency=2, kernel_words=12, groups=4, row_words=24,
    max_size=8, max_maps=4, max_images=2, max_stride=2, fifo_words=8, pool_window=3,
    pool_overlap=2, pool_words=32, state=True,
)  # fmt: skip
PLAIN = replace(DESIGN, state=False)
BY_ROWS = replace(PLAIN, cu_kind="fused", ku_kind="row", ku_lanes=2)
UNDONE = size_unpool([SHAPE], add_latency=2, mul_latency=1, max_images=2, max_size=8)
IMAGES = 2
RATE = 0x3D800000  # 1/16
MOMENTUM = 0x3F000000  # 1/2


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


def delta_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    design = DeltaDesign(PLAIN, UNDONE, True)
    kernels = words(rng, SHAPE.m, SHAPE.n, 3, 3)
    deltas = words(rng, IMAGES, SHAPE.pooled_rows, SHAPE.pooled_columns, SHAPE.m)
    activation = words(rng, IMAGES, SHAPE.out_rows, SHAPE.out_columns, SHAPE.m)
    state = keep_state(activation, SHAPE, "pooled", BINARY32)
    expanded = unpool(deltas, state, SHAPE, BINARY32)
    golden = delta_convolution(expanded, kernels, SHAPE, BINARY32, PLAIN.summation)
    return Case(
        delta_top(design),
        delta_run(SHAPE, SHAPE, design, deltas, kernels, packed(state, SHAPE, BINARY32)),
        expect_delta(SHAPE, SHAPE, IMAGES, design, golden),
    )


def update_case(seed: int, design: Design = PLAIN) -> Case:
    rng = np.random.default_rng(seed)
    shape = replace(SHAPE, pool=None)
    x = words(rng, IMAGES, shape.rows, shape.columns, shape.n)
    deltas = words(rng, IMAGES, shape.out_rows, shape.out_columns, shape.m)
    kernels, bias = words(rng, shape.m, shape.n, 3, 3), words(rng, shape.m)
    past = words(rng, *kernels.shape), words(rng, *bias.shape)
    found = (
        kernel_gradient(x, deltas, shape, BINARY32, design.summation),
        bias_gradient(deltas, BINARY32),
    )
    (kernels_new, kernels_past), (bias_new, bias_past) = (
        update(old, velocity, gradient, RATE, MOMENTUM, BINARY32)
        for old, velocity, gradient in zip((kernels, bias), past, found, strict=True)
    )
    return Case(
        kernel_update_top(design, momentum=True),
        kernel_update_run(shape, design, x, deltas, kernels, bias, RATE, past, MOMENTUM),
        expect_update(
            shape, IMAGES, design, kernels_new, bias_new, velocities=(kernels_past, bias_past)
        ),
    )


CASES: dict[str, Callable[[int], Case]] = {
    "fp": forward_case,
    "dp": delta_case,
    "ku": update_case,
    "ku-row": partial(update_case, design=BY_ROWS),
}


def pattern(rng: np.random.Generator) -> tuple[int, ...]:
    density = rng.choice([0.15, 0.5, 0.9])
    return (*(int(bit) for bit in rng.random(int(rng.integers(2, 30))) < density), 1)


def under_pressure(case: Case, seed: int, reset: bool) -> tuple[Run, Pauses]:
    """The run of a case with pauses on every channel; with a reset in mid-stream, if wanted."""
    rng = np.random.default_rng([seed, 0xA71])
    run = replace(
        case.run,
        stalls={pin.name: pattern(rng) for pin in case.top.ports.streams},
        reset_at=int(rng.integers(40, 400)) if reset else None,
    )
    return run, {channel: pattern(rng) for channel in CHANNELS}


def check(cases: list[Case], runs: list[Run], pauses: list[Pauses]) -> list[Record]:
    """Play runs in one simulation, and audit each."""
    records = run_axi(Job(cases[0].top, runs, limit=4000), pauses)
    for case, record in zip(cases, records, strict=True):
        found = audit(record, case.expected)
        assert found.passed, found.failures
        assert found.bit_exact
    return records


@pytest.mark.ghdl
@pytest.mark.parametrize("phase", ["fp", "ku-row", *in_full("dp", "ku")])
def test_runs_through_axi_are_those_of_the_bare_top(phase: str) -> None:
    case, other = CASES[phase](0), CASES[phase](1)
    run, pauses = under_pressure(other, 0, reset=True)
    pressed, plain = check([other, case], [run, case.run], [pauses, {}])
    assert (pressed.outcome.resets, plain.outcome.resets) == (1, 0)
    # Without pauses the shell costs no cycle: the same record, to the cycle of each first word.
    [bare] = run_job(Job(case.top, [case.run]), "myhdl")
    assert plain.differences(bare) == []


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
    records = check(cases, [run for run, _ in pressed], [pauses for _, pauses in pressed])
    assert sum(record.outcome.resets for record in records) == 5
