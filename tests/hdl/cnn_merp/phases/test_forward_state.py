"""The forward engine of training: state beside the maps, counted, and at no cycle's cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from marks import in_full
from merp.cosim.audit.audit import audit
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import Record
from merp.cosim.phases.cnn_merp.forward import STATE_PORTS, expect_forward, forward_run, forward_top
from merp.hdl.cnn_merp.ports.status import ForwardStatus
from merp.models.arithmetic.relu import relu
from merp.models.golden.convolution import convolution
from merp.models.golden.state import keep_state, packed
from merp.models.golden.super_layer import super_layer
from merp.testbenches.cnn_merp.random_layers import LayerCase, random_case

COUNTERS = [f"status_{name}" for name in vars(ForwardStatus())]
STREAM = STATE_PORTS["state_out"]


def state_of(case: LayerCase) -> bytes:
    shape, design = case.shape, case.design
    y = convolution(
        case.x, case.kernels, case.bias, shape.stride, shape.pad, design.fmt, design.summation
    )
    activation = relu(y, design.fmt) if shape.relu else y
    return packed(keep_state(activation, shape, "pooled", design.fmt), shape, design.fmt)


def cases_of(elaboration: int, seed: int, pressure: int | None = 0) -> Iterator[LayerCase]:
    """Random layers of an elaboration that have state, in its variant that writes it."""
    while True:
        case = random_case(seed, elaboration, pressure)
        seed += 1
        if not state_of(case):
            continue
        rng = np.random.default_rng(seed)
        stalls = dict(case.stalls)
        if pressure is not None:
            stalls[STREAM] = (*(int(b) for b in rng.random(23) < rng.choice([0.1, 0.5])), 1)
        yield replace(case, design=replace(case.design, state=True), stalls=stalls)


def run(cases: list[LayerCase], engine: str, array: str = "behavioural") -> list[Record]:
    """Run cases of one elaboration back to back, and audit each."""
    design = cases[0].design
    runs = [
        forward_run(c.shape, design, c.x, c.kernels, c.bias, c.stalls, c.reset_at) for c in cases
    ]
    records = run_job(Job(forward_top(design, array), runs), engine)
    for case, record in zip(cases, records, strict=True):
        golden = super_layer(
            case.x, case.kernels, case.bias, case.shape, design.fmt, design.summation
        )
        found = audit(record, expect_forward(case.shape, len(case.x), design, golden))
        assert found.passed, f"{case.shape}: {found.failures}"
        if design.state:
            wanted = state_of(case)
            assert bytes(record.words(STREAM).tolist()) == wanted, case.shape
            seen = record.outcome
            assert seen.transfers[STREAM] == seen.status["status_state_out"] == len(wanted)
    return records


@pytest.mark.parametrize("elaboration", [0, 2, 4, *in_full(1, 7)])
def test_random_layers(elaboration: int) -> None:
    cases = cases_of(elaboration, 100 * elaboration)
    run([next(cases) for _ in range(3)], "myhdl")


@pytest.mark.parametrize("elaboration", [3, *in_full(2)])
def test_state_costs_no_cycle(elaboration: int) -> None:
    case = next(cases_of(elaboration, elaboration, pressure=None))
    [with_state] = run([case], "myhdl")
    [without] = run([replace(case, design=replace(case.design, state=False))], "myhdl")
    for name in COUNTERS:
        assert with_state.outcome.status[name] == without.outcome.status[name], name


@pytest.mark.ghdl
def test_vhdl_gives_the_same_record() -> None:
    cases = cases_of(3, 60)
    chosen = [next(cases) for _ in range(2)]
    for mine, other in zip(run(chosen, "ghdl", "rtl"), run(chosen, "myhdl"), strict=True):
        assert mine.differences(other) == []
