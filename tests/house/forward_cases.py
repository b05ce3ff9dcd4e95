"""Random layers on the forward engine, audited: what several files of tests share."""

from dataclasses import replace

from audited_runs import audited
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.forward import expect_forward, forward_run, forward_top
from merp.models.golden.state import keep_state, packed
from merp.models.golden.super_layer import super_layer
from merp.testbenches.cnn_merp.random_layers import LayerCase


def state_of(case: LayerCase) -> bytes:
    """State that the golden keeps of a case, pooled."""
    shape, fmt = case.shape, case.design.fmt
    sums = super_layer(
        case.x, case.kernels, case.bias, replace(shape, pool=None), fmt, case.design.summation
    )
    return packed(keep_state(sums, shape, "pooled", fmt), shape, fmt)


def run(
    cases: list[LayerCase], engine: str = "myhdl", array: str = "behavioural"
) -> list[RunRecord]:
    """Run cases of one elaboration back to back, and audit each."""
    design = cases[0].design
    runs = [
        forward_run(c.shape, design, c.x, c.kernels, c.bias, c.stalls, c.reset_at) for c in cases
    ]
    expected = []
    for case in cases:
        golden = super_layer(
            case.x, case.kernels, case.bias, case.shape, design.fmt, design.summation
        )
        state = state_of(case) if design.state else None
        expected.append(expect_forward(case.shape, len(case.x), design, golden, state))
    return audited(Job(forward_top(design, array), runs), engine, expected)
