"""``merp simulate --schedule``: a step on the array from one start."""

from dataclasses import replace
from pathlib import Path

import pytest

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.mac_array.phases.scheduled_step import (
    DONE,
    ScheduledStep,
    scheduled_step,
)
from merp.cosim.phases.audit.audit import Audit
from merp.cosim.phases.audit.scheduled import audit_scheduled
from merp.models.machines.mac_array.passes import design_of
from merp.models.network.network_file import read_network
from merp.testbenches.mac_array.scheduled_bench import scheduled_top
from merp.tools.machines.mac_array.scheduled import one_start
from merp.tools.machines.mac_array.simulated import MacArray
from merp.tools.simulate.request import SimulateOptions
from small_arrays import small_array
from terminal import Terminal

SMALL = small_array("small", side=5, channels=1, maps=5)
"""A row that no pooling window has, atoms that are not filled, lanes that idle."""

PASSES = 6
"""Of an image: fp, fp, ku, dp, un-pooling, ku."""


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    path: Path = tmp_path_factory.mktemp("schedule") / "small.toml"
    path.write_text(SMALL)
    return path


def play(
    path: Path, images: int, loss: str | None, *, fused: bool
) -> tuple[RunRecord, ScheduledStep]:
    asked = SimulateOptions(network=str(path), images=images, delta_at="sums", loss=loss)
    start, _ = one_start(read_network(path), asked, lambda *_: None)
    choice, found = start.choice, start.loss
    machine = MacArray()
    maps = machine.input_maps(choice.network, images, None)
    golden = machine.step(choice, maps, machine.parameters(choice.network, 0, None), found)
    step = scheduled_step(golden, found, fused=fused)
    top = scheduled_top(design_of(choice.network, choice.layers[0]))
    (record,) = run_job(Job(top, [step.run]), "myhdl")
    return record, step


def audit_of(record: RunRecord, step: ScheduledStep) -> Audit:
    return audit_scheduled(record, step.expected, step.cycles)


@pytest.fixture(scope="module")
def played(small: Path) -> tuple[RunRecord, ScheduledStep]:
    return play(small, 2, None, fused=False)


def test_all_passes_of_two_images_from_one_start(played) -> None:
    """Every word the golden's, words four ways, cycles by cause, and those of the run."""
    record, step = played
    found = audit_of(record, step)
    assert found.passed, found.failures
    assert found.bit_exact
    assert step.passes == PASSES
    assert all(len(set(ways.values())) == 1 for ways in found.ports.values())
    assert all(ways["monitor"] for ways in found.ports.values())
    assert found.cycles["total"] == step.of_passes - 2 * PASSES * DONE


def test_a_wrong_word_or_cycle_is_found(played) -> None:
    record, step = played
    late = replace(record, outcome=replace(record.outcome, cycles=record.outcome.cycles + 1))
    (said,) = audit_of(late, step).failures
    assert said.startswith("cycles of the run, on the pins: ")
    words = dict(record.outcome.words)
    words["m_axis_kernel"] = words["m_axis_kernel"] ^ 1
    wrong = replace(record, outcome=replace(record.outcome, words=words))
    assert any("kernel_out" in each for each in audit_of(wrong, step).failures)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--schedule", "--loss", "cross-entropy"), "merp: --loss cross-entropy: a host computes"),
        (("--loss", "hinge"), "merp: --loss hinge: allowed with --schedule"),
        (("--schedule", "--layer", "fc2"), "merp: --schedule: allowed with all layers and phases"),
        (("--schedule", "--phase", "ku"), "merp: --schedule: allowed with all layers and phases"),
        (("--schedule", "--phase", "fp"), "merp: --schedule: allowed with all layers and phases"),
        (("--schedule", "--state"), "merp: --state: allowed without --schedule"),
        (("--schedule", "-o", "there"), "merp: -o there: allowed without --schedule"),
    ],
)
def test_what_does_not_go_together_is_refused(terminal: Terminal, small, words, said) -> None:
    error = terminal.refusal("simulate", small, *words)
    assert error.startswith(said)


def test_networks_of_no_array_are_refused(terminal: Terminal) -> None:
    error = terminal.refusal("simulate", "digits", "--schedule")
    assert error == "merp: --schedule: digits runs on cnn-merp: allowed on mac-array"


def test_an_array_without_the_unit_of_losses_is_refused(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "bare.toml"
    path.write_text(f"{SMALL}loss = false\n")
    error = terminal.refusal("simulate", path, "--schedule")
    assert error == "merp: --schedule: small: allowed with a design of loss = true"


@pytest.mark.full
def test_the_fused_machine_and_the_other_loss(small: Path) -> None:
    """Deltas are expanded on entry: a pass less for each layer that pools."""
    record, step = play(small, 3, "squared", fused=True)
    found = audit_of(record, step)
    assert found.passed, found.failures
    assert found.bit_exact
    assert step.passes == PASSES - 1


@pytest.mark.full
@pytest.mark.verilator
def test_a_step_of_the_printed_network_from_one_start(terminal: Terminal) -> None:
    """Acceptance 4: two images, first and last, all seven layers in RTL."""
    words = ("simulate", "cifar10-1x-fixed", "--schedule", "--images", "2", "--engine", "verilator")
    found = terminal.answer(*words)
    assert found["bit_exact"]
    assert not found["failures"]
    schedule, passes = found["schedule"], 2 * found["schedule"]["passes"]
    loading = schedule["passes"] * schedule["words"]
    assert schedule["between_passes"] == schedule["words"] + 2
    assert schedule["cycles"] == (
        schedule["of_passes"] + passes * schedule["between_passes"] + loading + 1
    )
