"""A kernel update of a part of the input maps that has no biases, with momentum and without."""

from dataclasses import replace

import numpy as np
import pytest

from marks import in_full
from merp.cosim.machines.cnn_merp.phases.kernel_update import (
    expect_update,
    kernel_update_run,
    kernel_update_top,
)
from merp.cosim.phases.audit.run_and_audit import run_and_audit
from merp.cosim.phases.expectation import GroupPass
from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.base.input_part import WHOLE, InputPart
from merp.models.base.rates import Rates
from merp.models.base.shape import Shape
from merp.models.golden.kernel_update import bias_gradient, kernel_gradient, update
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.sizing import size_design

SHAPE = Shape(n=2, m=3, k=2, rows=4, columns=5)
DESIGN = size_design([SHAPE], n_cu=2, r=1, mul_latency=1, add_latency=2, partial=True)
FMT = DESIGN.fmt
RATE, FACTOR, DECAY = (int(word) for word in to_bits([0.125, 0.75, 0.375], FMT))
RATES = [Rates(rate=RATE), Rates(rate=RATE, momentum=FACTOR, weight_decay=DECAY)]


def pass_of(
    rng: np.random.Generator,
    part: InputPart,
    rates: Rates,
    stalls: dict[str, tuple[int, ...]],
    design: EngineDesign = DESIGN,
) -> GroupPass:
    def words(*size: int) -> Bits:
        return to_bits(rng.uniform(-1, 1, size), FMT)

    x = words(2, SHAPE.rows, SHAPE.columns, SHAPE.n)
    delta = words(2, SHAPE.out_rows, SHAPE.out_columns, SHAPE.m)
    old = words(SHAPE.m, SHAPE.n, SHAPE.k, SHAPE.k), words(SHAPE.m)
    past = words(*old[0].shape), words(*old[1].shape)
    gradients = kernel_gradient(x, delta, SHAPE, FMT, DESIGN.summation), bias_gradient(delta, FMT)
    momentum = rates.rule.momentum
    new = [
        update(w, v if momentum else np.zeros_like(v), g, rates, FMT)
        for w, v, g in zip(old, past, gradients, strict=True)
    ]
    velocities = (past if momentum else None), ((new[0][1], new[1][1]) if momentum else None)
    run = kernel_update_run(SHAPE, design, x, delta, old, rates, velocities[0], part=part).under(
        stalls
    )
    return GroupPass(
        run, expect_update(SHAPE, 2, design, new[0][0], new[1][0], velocities[1], part=part)
    )


@pytest.mark.parametrize("port", [1, 2, *in_full(4)])
@pytest.mark.parametrize("rates", [RATES[1], *in_full(RATES[0])])
def test_runs_with_and_without_biases_take_turns(rates: Rates, port: int) -> None:
    design = replace(DESIGN, kernel_port=port)
    rng = np.random.default_rng(9)
    later = InputPart(first=False)
    held = {"m_axis_kernel": (1, 0, 0, 1), "m_axis_kernel_velocity": (0, 1, 0, 0, 0, 1)}
    if not rates.rule.momentum:
        del held["m_axis_kernel_velocity"]
    parts = [(later, {}), (WHOLE, {}), (later, held), (later, {}), (WHOLE, held)]
    passes = [pass_of(rng, part, rates, stalls, design) for part, stalls in parts]
    found = run_and_audit(kernel_update_top(design, "behavioural", rates.rule), passes, "myhdl")
    assert [each.audit.failures for each in found] == [()] * len(parts)
    assert found[0].audit.ports["bias"] == found[0].audit.ports["bias_out"]
    assert found[0].audit.ports["bias"]["monitor"] == 0
