"""Every phase on fused units of narrow factors, whole layers under stalls and resets."""

import pytest
from stored_layers import DELTA, FORWARD, UPDATE, delta_pass, forward_pass, update_pass

from marks import rows_in_full
from merp.cosim.machines.cnn_merp.phases.delta import delta_top
from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.cosim.machines.cnn_merp.phases.kernel_update import kernel_update_top
from merp.cosim.phases.audit.run_and_audit import run_and_audit
from merp.cosim.phases.expectation import GroupPass
from merp.testbenches.top.top import Top

PHASES = {
    "fp": [i for i, design in enumerate(FORWARD) if design.summation.narrow],
    "dp": [i for i, each in enumerate(DELTA) if each.engine.summation.narrow],
    "ku": [i for i, each in enumerate(UPDATE) if each[0].summation.narrow],
}
EVERY = [(phase, place) for phase, places in PHASES.items() for place in range(len(places))]
every_layer = pytest.mark.parametrize(("phase", "place"), EVERY)


def top_and_pass(phase: str, place: int, array: str, seed: int) -> tuple[Top, GroupPass]:
    index = PHASES[phase][place]
    if phase == "fp":
        return forward_top(FORWARD[index], array), forward_pass(seed, FORWARD[index])
    if phase == "dp":
        return delta_top(DELTA[index], array), delta_pass(seed, DELTA[index])
    design, rule, undone = UPDATE[index]
    return kernel_update_top(design, array, rule, undone), update_pass(seed, index)


def play(phase: str, place: int, seeds: range, engine: str, array: str = "rtl") -> None:
    """Run layers back to back: the golden's bits, and the counts that are expected."""
    both = [top_and_pass(phase, place, array, seed) for seed in seeds]
    for each in run_and_audit(both[0][0], [made for _, made in both], engine):
        assert each.audit.failures == ()
        assert each.audit.bit_exact


def test_there_are_two_of_every_phase() -> None:
    assert {phase: len(places) for phase, places in PHASES.items()} == dict.fromkeys(PHASES, 2)


@pytest.mark.sample(1)
@every_layer
def test_random_layers(phase: str, place: int) -> None:
    play(phase, place, range(4), "myhdl", "behavioural")


@pytest.mark.parametrize(("phase", "place"), [EVERY[0], *rows_in_full(EVERY[2], EVERY[4])])
def test_register_transfer_arrays(phase: str, place: int) -> None:
    play(phase, place, range(1), "myhdl")


@pytest.mark.verilator
@pytest.mark.parametrize(("phase", "place"), [EVERY[4], *rows_in_full(*EVERY[:4], EVERY[5])])
def test_verilog(phase: str, place: int) -> None:
    play(phase, place, range(24), "verilator")


@pytest.mark.verilator
@pytest.mark.parametrize(("phase", "place"), rows_in_full(*EVERY))
def test_arrays_in_cpp(phase: str, place: int) -> None:
    play(phase, place, range(30, 130), "verilator", "behavioural")


@pytest.mark.ghdl
@pytest.mark.parametrize(("phase", "place"), rows_in_full(*EVERY))
def test_vhdl(phase: str, place: int) -> None:
    play(phase, place, range(2), "ghdl")
