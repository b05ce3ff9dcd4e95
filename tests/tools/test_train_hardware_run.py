"""``merp train`` in the hardware: what it measures, how it goes on, fails and refuses."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.machines.training.hardware_step import HardwareStep
from merp.cosim.phases.audit import run_and_audit
from merp.cosim.phases.audit.audit import Audit, audit
from merp.cosim.phases.expectation import Expectation
from merp.models.arithmetic.words import to_bits
from merp.models.base.errors import CheckFailed
from merp.models.golden.training import initial_model, rates_of
from merp.models.network.network_file import read_network
from merp.testbenches.top.run import Stuck
from network_text import layer, network_text
from terminal import Terminal

NETWORK = network_text(
    "single",
    (2, 2, 1),
    layer("fc1", 3, design="full"),
    designs={
        "full": {"k": 1, "n_cu": 1, "r": 1, "mul_latency": 1, "add_latency": 1, "max_images": 4}
    },
)


@pytest.fixture(scope="module")
def command(network_file: Path) -> list[object]:
    """``merp train`` on ten images, of which eight are for training."""
    rng = np.random.default_rng(0)
    data = network_file.with_name("data.npz")
    np.savez(data, images=rng.uniform(-1, 1, (10, 2, 2)), labels=rng.integers(0, 3, 10))
    return ["train", network_file, "--data", data, "--batch", 4]


def test_the_answer_says_what_was_measured(command: list[object], terminal: Terminal) -> None:
    found = terminal.answer(*command, "--engine", "myhdl", "--steps", "1")
    assert (found["engine"], found["state_bits"]) == ("myhdl", "pooled")
    measured = found["bytes"]["measured"]
    assert measured["paper"] == found["bytes"]["paper"]  # all of it, by formula and on the pins
    x, y, w, b = 4 * 4, 4 * 3, 4 * 3, 3
    assert measured["full"] == {
        "fp": 4 * (x + y + w + b) + 2,  # 12 mask bits
        "dp": 0,
        "ku": 4 * (x + y + 2 * w + 2 * b),
        "step": 4 * (2 * x + 2 * y + 3 * w + 3 * b) + 2,
        "momentum": 4 * 2 * (w + b),
    }
    cycles = found["cycles"]
    assert cycles["dp"] == {"total": 0, "kernel_load": 0}
    assert cycles["fp"]["kernel_load"] > w
    for key in ("total", "kernel_load"):
        assert cycles["step"][key] == sum(cycles[phase][key] for phase in ("fp", "dp", "ku"))
    golden = terminal.answer(*command, "--steps", "1", "--state-bits", "pooled")
    assert golden["bytes"]["measured"] is None
    assert {key: golden[key] for key in ("loss", "accuracy")} == {
        key: found[key] for key in ("loss", "accuracy")
    }


def test_people_see_what_was_measured(command: list[object], terminal: Terminal) -> None:
    status, out, _ = terminal.run(*command, "--engine", "myhdl", "--steps", "1", "--momentum", "0")
    assert status == 0
    for part in ("on the ports", "cycles", "engine myhdl", "velocities, apart: 0.000 MB"):
        assert part in " ".join(out.split())


def test_an_interrupted_run_resumes_to_the_golden_file(
    command: list[object], terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, part = tmp_path / "whole.npz", tmp_path / "part.npz"
    golden = terminal.answer(*command, "--steps", "3", "--save", whole)
    step, calls = HardwareStep.step, []

    def interrupted(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return step(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(HardwareStep, "step", interrupted)
        status, _, _ = terminal.run(*command, "--engine", "myhdl", "--steps", "3", "--save", part)
    assert status == 130
    resumed = terminal.answer(
        *command, "--engine", "myhdl", "--steps", "3", "--resume", part, "--save", part
    )
    assert part.read_bytes() == whole.read_bytes()
    assert resumed["loss"] == golden["loss"]
    assert len(set(golden["loss"])) == 3


def test_a_resumed_run_with_no_step_left_has_measured_nothing(
    command: list[object], terminal: Terminal, tmp_path: Path
) -> None:
    saved = tmp_path / "f.npz"
    terminal.answer(*command, "--steps", "1", "--save", saved)
    found = terminal.answer(*command, "--engine", "myhdl", "--steps", "1", "--resume", saved)
    assert found["bytes"]["measured"] is None
    assert found["cycles"]["step"] is None


def changed(record: RunRecord, **seen: Any) -> RunRecord:
    """The record of a run in which something else was seen."""
    return replace(record, outcome=replace(record.outcome, **seen))


def miscounted(record: RunRecord) -> RunRecord:
    status = dict(record.outcome.status)
    status["status_map_in"] += 1
    return changed(record, status=status)


def short_of_a_word(record: RunRecord) -> RunRecord:
    words = {stream: found[:-1] for stream, found in record.outcome.words.items()}
    transfers = {name: count - (name in words) for name, count in record.outcome.transfers.items()}
    return changed(record, words=words, transfers=transfers)


def of_another_bit(record: RunRecord) -> RunRecord:
    return changed(
        record, words={stream: found ^ 1 for stream, found in record.outcome.words.items()}
    )


def unstable(record: RunRecord) -> RunRecord:
    return changed(record, faults=("m_axis_map: data changed in cycle 7",))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("plant", "phase", "complaint"),
    [
        (miscounted, "forward", "fc1 fp group 0: port map_in: counts differ: closed_form 16"),
        (miscounted, "kernel_update", "fc1 ku group 0: port map_in: counts differ: closed_form 16"),
        (short_of_a_word, "forward", "fc1 fp group 0: map_out: 11 output words, not 12"),
        (short_of_a_word, "kernel_update", "fc1 ku group 0: kernel_out: 11 output words, not 12"),
        (of_another_bit, "forward", "fc1 fp group 0: map_out: 12 of 12 words differ"),
        (of_another_bit, "kernel_update", "fc1 ku group 0: kernel_out: 12 of 12 words differ"),
        (unstable, "forward", "fc1 fp group 0: m_axis_map: data changed in cycle 7"),
    ],
)
def test_a_planted_fault_is_caught(
    plant: Callable[[RunRecord], RunRecord],
    phase: str,
    complaint: str,
    command: list[object],
    terminal: Terminal,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    saved = tmp_path / "f.npz"
    terminal.answer(*command, "--steps", "1", "--save", saved)
    before = saved.read_bytes()

    def faulty(record: RunRecord, expected: Expectation) -> Audit:
        hit = ("kernel_out" in expected.ports) == (phase == "kernel_update")
        return audit(plant(record) if hit else record, expected)

    monkeypatch.setattr(run_and_audit, "audit", faulty)
    status, out, err = terminal.run(
        *command, "--engine", "myhdl", "--steps", "2", "--resume", saved, "--save", saved
    )
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"merp: {complaint}")
    assert saved.read_bytes() == before


def test_hardware_that_stands_still_is_a_failed_check(
    command: list[object], terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(*_: object) -> None:
        raise Stuck("stuck in cycle 9")

    monkeypatch.setattr(run_and_audit, "run_job", stuck)
    assert terminal.run(*command, "--engine", "myhdl", "--steps", "1") == (
        1, "", "merp: stuck in cycle 9\n",
    )  # fmt: skip


def test_velocities_are_audited(network_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = read_network(network_file)

    def faulty(record: RunRecord, expected: Expectation) -> Audit:
        status = dict(record.outcome.status)
        if "kernel_out" in expected.ports:
            status["status_bias_velocity_out"] -= 1
        return audit(changed(record, status=status), expected)

    monkeypatch.setattr(run_and_audit, "audit", faulty)
    images = to_bits(np.ones((1, 2, 2, 1)), network.fmt)
    rates = rates_of(0.1, 1, network.fmt, momentum=0.5)
    with pytest.raises(CheckFailed, match="fc1 ku group 0: port bias_velocity_out: counts differ"):
        HardwareStep(WholeLayers(network, 1), "myhdl").step(
            initial_model(network, 0), images, np.zeros(1, np.int64), rates
        )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (NETWORK.replace('design = "full"\n', ""), "no layer uses it"),
        (NETWORK.split("design")[0], "layer fc1 has no design (traffic only): allowed are none"),
    ],
)
def test_networks_that_the_hardware_cannot_train(
    text: str, complaint: str, command: list[object], terminal: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "network.toml"
    path.write_text(text)
    verb, _, *options = command
    status, out, err = terminal.run(verb, path, *options, "--engine", "myhdl")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert complaint in err


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            ("--state-bits", "32"),
            "--state-bits 32: --engine myhdl runs the hardware: allowed: pooled",
        ),
        (("--state-bits", "1"), "--state-bits 1: --engine myhdl"),
        (
            ("--batch", "5"),
            "single: layer fc1: needs max_images = 5: the design has max_images = 4",
        ),
    ],
)
def test_options_that_the_hardware_cannot_train_with(
    options: Sequence[str], complaint: str, command: list[object], terminal: Terminal
) -> None:
    status, out, err = terminal.run(*command, "--engine", "myhdl", *options)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert complaint in err
