"""The forward engine of training: state beside the maps, counted, and at no cycle's cost."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from audited_runs import assert_same
from forward_cases import run, state_of
from marks import in_full
from merp.cosim.machines.cnn_merp.phases.forward import PORTS
from merp.hdl.base.status import Status
from merp.models.machines.cnn_merp.params.word_counters import FORWARD_WORDS
from merp.testbenches.cnn_merp.random_layers import LayerCase, random_case

COUNTERS = [f"status_{name}" for name in vars(Status(FORWARD_WORDS))]
STREAM = PORTS["state_out"]


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


@pytest.mark.parametrize("elaboration", [0, 2, 4, *in_full(1, 7)])
def test_random_layers(elaboration: int) -> None:
    cases = cases_of(elaboration, 100 * elaboration)
    chosen = [next(cases) for _ in range(3)]
    for case, record in zip(chosen, run(chosen, "myhdl"), strict=True):
        wanted, seen = state_of(case), record.outcome
        assert bytes(record.words(STREAM).tolist()) == wanted, case.shape
        assert seen.transfers[STREAM] == seen.status["status_state_out"] == len(wanted)


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
    assert_same(run(chosen, "ghdl", "rtl"), run(chosen, "myhdl"))
