"""``merp train`` in the hardware: the golden's bits, audited counts, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from merp.cosim import training_step
from merp.cosim.job import Job
from merp.cosim.record import Record
from merp.cosim.training_step import CheckFailed, HardwareStep
from merp.models.arithmetic import to_bits
from merp.models.network import Network
from merp.models.network_file import read_network
from merp.models.params.formats import BINARY32
from merp.models.params.shape import Pool, Shape
from merp.models.state import joined, keep_state, of_maps, packed, unpacked
from merp.models.traffic.footing import Footing
from merp.models.training import Model, Rates, initial_model, step_bytes, train_step
from merp.testbenches.run import Stuck
from merp.tools import cli

# State is joined from conv2's groups for fc3, and cut for them from conv1.
GROUPED = """
[network]
name = "grouped"
input = { rows = 6, columns = 6, channels = 1 }
[[layer]]
name = "conv1"
maps = 4
kernel = 3
pad = 1
pool = { kind = "max", window = 3, stride = 2 }
design = "k3"
[[layer]]
name = "conv2"
maps = 4
kernel = 3
pad = 2
groups = 2
pool = { kind = "average", window = 2, stride = 2 }
design = "k3"
[[layer]]
name = "fc3"
maps = 3
relu = false
design = "full"
[design.k3]
k = 3
n_cu = 2
d = 2
mul_latency = 1
add_latency = 2
[design.full]
k = 1
n_cu = 2
mul_latency = 1
add_latency = 2
"""

# The last layer has ReLU and pooling of its own, which the host undoes; the stride is dilated.
POOLED_END = """
[network]
name = "end"
input = { rows = 5, columns = 5, channels = 1 }
[[layer]]
name = "conv1"
maps = 2
kernel = 2
pad = 1
design = "k2"
[[layer]]
name = "conv2"
maps = 3
kernel = 2
stride = 2
pool = { kind = "max", window = 3, stride = 1 }
design = "k2"
[design.k2]
k = 2
n_cu = 1
r = 1
d = 2
mul_latency = 1
add_latency = 1
"""

SINGLE = """
[network]
name = "single"
input = { rows = 2, columns = 2, channels = 1 }
[[layer]]
name = "fc1"
maps = 3
design = "full"
[design.full]
k = 1
n_cu = 1
r = 1
mul_latency = 1
add_latency = 1
max_images = 4
"""


def network_of(folder: Path, text: str) -> Network:
    path = folder / "network.toml"
    path.write_text(text)
    return read_network(path)


def assert_same(found: Model, wanted: Model, part: str) -> None:
    for name, both in getattr(wanted, part).items():
        for got, golden in zip(getattr(found, part)[name], both, strict=True):
            assert got.dtype == golden.dtype
            np.testing.assert_array_equal(got, golden, err_msg=f"{name} {part}")


def check_steps(network: Network, engine: str, momentum: float, steps: int) -> None:
    """Train from the same start in the hardware and in the golden model."""
    images, fmt = 2, network.fmt
    rng = np.random.default_rng(1)
    rates = Rates.of(0.1, momentum, images, fmt)
    found = wanted = initial_model(network, 3)
    hardware = HardwareStep(network, engine, images)
    for _ in range(steps):
        batch = to_bits(rng.uniform(0, 1, (images, *network.input)), fmt)
        labels = rng.integers(0, 3, images)
        golden = train_step(network, wanted, batch, labels, rates)
        wanted = golden.model
        found, loss, counts = hardware.step(found, batch, labels, rates)
        assert loss == golden.loss
        assert_same(found, wanted, "parameters")
        assert_same(found, wanted, "velocities")
        paper = step_bytes(network, images, Footing())
        full = step_bytes(network, images, Footing(name="full", state="pooled"))
        assert {phase: each.maps for phase, each in counts.items()} == {
            phase: paper[phase] for phase in ("fp", "dp", "ku")
        }
        assert sum(each.velocities for each in counts.values()) == bool(momentum) * full["momentum"]
        assert all(each.cycles > 0 for each in counts.values())
        assert all(each.bytes > each.maps for each in counts.values())


def test_a_grouped_network_ends_in_the_golden_bits(tmp_path: Path) -> None:
    check_steps(network_of(tmp_path, GROUPED), "myhdl", 0.9, 2)


def test_the_host_undoes_the_last_pooling_and_no_momentum_is_built(tmp_path: Path) -> None:
    check_steps(network_of(tmp_path, POOLED_END), "myhdl", 0.0, 1)


@pytest.mark.verilator
def test_verilator_ends_in_the_golden_bits(tmp_path: Path) -> None:
    check_steps(network_of(tmp_path, POOLED_END), "verilator", 0.5, 3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A network of one layer and ten images, of which eight are for training."""
    rng = np.random.default_rng(0)
    np.savez(
        tmp_path / "data.npz", images=rng.uniform(-1, 1, (10, 2, 2)), labels=rng.integers(0, 3, 10)
    )
    (tmp_path / "single.toml").write_text(SINGLE)
    return tmp_path


def run(capsys, folder: Path, *options: object) -> tuple[int, str, str]:
    arguments = ["train", folder / "single.toml", "--data", folder / "data.npz", "--batch", 4]
    status = cli.main([str(word) for word in (*arguments, *options)])
    out, err = capsys.readouterr()
    return status, out, err


def answer(capsys, folder: Path, *options: object) -> dict[str, Any]:
    status, out, err = run(capsys, folder, *options, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def test_the_answer_says_what_was_measured(capsys, folder: Path) -> None:
    found = answer(capsys, folder, "--engine", "myhdl", "--steps", "1")
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
    golden = answer(capsys, folder, "--steps", "1", "--state-bits", "pooled")
    assert golden["bytes"]["measured"] is None
    assert {key: golden[key] for key in ("loss", "accuracy")} == {
        key: found[key] for key in ("loss", "accuracy")
    }


def test_people_see_what_was_measured(capsys, folder: Path) -> None:
    status, out, _ = run(capsys, folder, "--engine", "myhdl", "--steps", "1", "--momentum", "0")
    assert status == 0
    for part in ("on the ports", "cycles", "engine myhdl", "velocities, apart: 0.000 MB"):
        assert part in " ".join(out.split())


def test_an_interrupted_run_resumes_to_the_golden_file(capsys, folder: Path, monkeypatch) -> None:
    whole, part = folder / "whole.npz", folder / "part.npz"
    golden = answer(capsys, folder, "--steps", "3", "--save", whole)
    step, calls = HardwareStep.step, []

    def interrupted(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return step(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(HardwareStep, "step", interrupted)
        status, _, _ = run(capsys, folder, "--engine", "myhdl", "--steps", "3", "--save", part)
    assert status == 130
    resumed = answer(
        capsys, folder, "--engine", "myhdl", "--steps", "3", "--resume", part, "--save", part
    )
    assert part.read_bytes() == whole.read_bytes()
    assert resumed["loss"] == golden["loss"]
    assert len(set(golden["loss"])) == 3


def test_a_resumed_run_with_no_step_left_has_measured_nothing(capsys, folder: Path) -> None:
    saved = folder / "f.npz"
    answer(capsys, folder, "--steps", "1", "--save", saved)
    found = answer(capsys, folder, "--engine", "myhdl", "--steps", "1", "--resume", saved)
    assert found["bytes"]["measured"] is None
    assert found["cycles"]["step"] is None


def miscounted(record: Record) -> Record:
    status = dict(record.status)
    status["status_map_in"] += 1
    return replace(record, status=status)


def short_of_a_word(record: Record) -> Record:
    words = {stream: found[:-1] for stream, found in record.words.items()}
    transfers = {name: count - (name in words) for name, count in record.transfers.items()}
    return replace(record, words=words, transfers=transfers)


def of_another_bit(record: Record) -> Record:
    return replace(record, words={stream: found ^ 1 for stream, found in record.words.items()})


def unstable(record: Record) -> Record:
    return replace(record, faults=("m_axis_map: data changed in cycle 7",))


@pytest.mark.parametrize(
    ("plant", "phase", "complaint"),
    [
        (miscounted, "forward", "fc1 fp group 0: port map_in: counts differ: closed_form 16"),
        (miscounted, "kernel_update", "fc1 ku group 0: port map_in: counts differ: closed_form 16"),
        (short_of_a_word, "forward", "fc1 fp group 0: map_out: 11 words came out, not 12"),
        (short_of_a_word, "kernel_update", "fc1 ku group 0: kernel_out: 11 words came out, not 12"),
        (of_another_bit, "forward", "fc1 fp group 0: map_out: 12 of 12 words differ"),
        (of_another_bit, "kernel_update", "fc1 ku group 0: kernel_out: 12 of 12 words differ"),
        (unstable, "forward", "fc1 fp group 0: m_axis_map: data changed in cycle 7"),
    ],
)
def test_a_planted_fault_is_caught(
    capsys,
    folder: Path,
    monkeypatch,
    plant: Callable[[Record], Record],
    phase: str,
    complaint: str,
) -> None:
    saved = folder / "f.npz"
    answer(capsys, folder, "--steps", "1", "--save", saved)
    before = saved.read_bytes()
    simulate = training_step.run_job

    def faulty(job: Job, engine: str) -> Sequence[Record]:
        records = simulate(job, engine)
        return [plant(each) for each in records] if job.top.name == phase else records

    monkeypatch.setattr(training_step, "run_job", faulty)
    status, out, err = run(
        capsys, folder, "--engine", "myhdl", "--steps", "2", "--resume", saved, "--save", saved
    )
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"merp: {complaint}")
    assert saved.read_bytes() == before


def test_hardware_that_stands_still_is_a_failed_check(capsys, folder: Path, monkeypatch) -> None:
    def stuck(*_: object) -> None:
        raise Stuck("stuck in cycle 9")

    monkeypatch.setattr(training_step, "run_job", stuck)
    assert run(capsys, folder, "--engine", "myhdl", "--steps", "1") == (
        1, "", "merp: stuck in cycle 9\n",
    )  # fmt: skip


def test_velocities_are_audited(tmp_path: Path, monkeypatch) -> None:
    network = network_of(tmp_path, SINGLE)
    simulate = training_step.run_job

    def faulty(job: Job, engine: str) -> list[Record]:
        records = simulate(job, engine)
        if job.top.name == "kernel_update":
            for record in records:
                assert isinstance(record.status, dict)
                record.status["status_bias_velocity_out"] -= 1
        return records

    monkeypatch.setattr(training_step, "run_job", faulty)
    images = to_bits(np.ones((1, 2, 2, 1)), network.fmt)
    rates = Rates.of(0.1, 0.5, 1, network.fmt)
    with pytest.raises(CheckFailed, match="fc1 ku group 0: port bias_velocity_out: counts differ"):
        HardwareStep(network, "myhdl", 1).step(
            initial_model(network, 0), images, np.zeros(1, np.int64), rates
        )


@pytest.mark.parametrize(
    ("text", "options", "complaint"),
    [
        (SINGLE.replace('design = "full"\n[design.full]', "[design.full]"), (), "no layer uses it"),
        (SINGLE.split("design")[0], (), "layer fc1 has no design (traffic only): allowed are none"),
        (SINGLE, ("--state-bits", "32"),
         "--state-bits 32: --engine myhdl runs the hardware: allowed: pooled"),
        (SINGLE, ("--state-bits", "1"), "--state-bits 1: --engine myhdl"),
        (SINGLE, ("--batch", "5"),
         "single: layer fc1: needs max_images = 5: the design has max_images = 4"),
    ],
)  # fmt: skip
def test_what_the_hardware_cannot_train(
    capsys, folder: Path, text: str, options: Sequence[str], complaint: str
) -> None:
    (folder / "single.toml").write_text(text)
    status, out, err = run(capsys, folder, "--engine", "myhdl", *options)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert complaint in err


POOLS = (
    None,
    Pool(kind="max", window=3, stride=2),
    Pool(kind="max", window=2, stride=2),
    Pool(kind="max", window=1, stride=2),
    Pool(kind="average", window=2, stride=1),
)


@pytest.mark.parametrize("pool", POOLS, ids=str)
@pytest.mark.parametrize("relu", [True, False])
def test_state_comes_back_from_its_bytes(pool: Pool | None, relu: bool) -> None:
    shape = Shape(n=1, m=5, k=1, rows=5, columns=6, relu=relu, pool=pool)
    numbers = np.random.default_rng(2).integers(-2, 3, (3, 5, 6, 5))
    state = keep_state(to_bits(numbers, BINARY32), shape, "pooled", BINARY32)
    data = packed(state, shape, BINARY32)
    groups = [of_maps(state, 0, 2), of_maps(state, 2, 5)]
    for found in (unpacked(data, shape, 5, 3), joined(groups)):
        assert found.kind == "pooled"
        assert found.activation is None
        for got, wanted in ((found.mask, state.mask), (found.position, state.position)):
            assert (got is None) == (wanted is None)
            if got is not None and wanted is not None:
                assert got.dtype == wanted.dtype
                np.testing.assert_array_equal(got, wanted)
    for wrong in (data + b"\0", data[:-1]):
        if wrong != data:
            with pytest.raises(ValueError, match=f"must be {len(data)} bytes, not {len(wrong)}"):
                unpacked(wrong, shape, 5, 3)


def test_states_that_cannot_be_joined() -> None:
    with pytest.raises(ValueError, match="nothing to join"):
        joined([])
    shape = Shape(n=1, m=1, k=1, rows=2, columns=2)
    words = np.zeros((1, 2, 2, 1), np.uint32)
    plain = keep_state(words, shape, "pooled", BINARY32)
    without = keep_state(words, replace(shape, relu=False), "pooled", BINARY32)
    with pytest.raises(ValueError, match="not alike"):
        joined([plain, without])


@pytest.mark.full
@pytest.mark.verilator
def test_the_digits_learn_the_same_in_the_hardware(capsys, tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn (extra train) is not installed")
    options = ("--data", "digits", "--batch", "8", "--steps", "20", "--json")
    found = {}
    for engine in ("golden", "verilator"):
        saved = str(tmp_path / f"{engine}.npz")
        assert cli.main(["train", "digits", *options, "--engine", engine, "--save", saved]) == 0
        found[engine] = json.loads(capsys.readouterr().out)
    golden, hardware = found["golden"], found["verilator"]
    assert (tmp_path / "verilator.npz").read_bytes() == (tmp_path / "golden.npz").read_bytes()
    assert hardware["loss"] == golden["loss"]
    assert hardware["accuracy"] == golden["accuracy"]
    assert hardware["bytes"]["measured"]["paper"] == golden["bytes"]["paper"]
