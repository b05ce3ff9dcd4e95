"""Training steps in one pass back: the golden's bits, those of separate passes, and fewer bytes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from trained import network_of, same, train_on

import merp
from marks import engines, rows_in_full
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.training.fused_layers import FusedLayers
from merp.cosim.machines.training.hardware_step import HardwareStep
from merp.cosim.phases.audit import run_and_audit
from merp.cosim.phases.audit.audit import Audit, audit
from merp.cosim.phases.expectation import Expectation
from merp.models.arithmetic.words import to_bits
from merp.models.base.errors import CheckFailed
from merp.models.golden.training import initial_model, rates_of
from merp.models.machines.cnn_merp.machine import MACHINE
from merp.models.machines.cnn_merp.params.word_counters import VELOCITY_WORDS
from merp.models.network.network import Network
from merp.models.traffic.closed_form import step_bytes
from merp.models.traffic.count import Count
from merp.tools import cli
from merp.tools.train.counts import by_phase
from merp.tools.train.report import show
from needed_tools import needs
from network_text import average_pool, layer, max_pool, network_text
from terminal import Terminal

# State is joined from conv2's groups for conv3, and cut for them from conv1; a stride is dilated;
# fc4 takes maps flattened, and keeps its separate phases.
NETWORK = network_text(
    "mixed",
    (6, 6, 1),
    layer("conv1", 4, kernel=3, pad=1, pool=max_pool(3, 2), design="first"),
    layer("conv2", 4, kernel=2, pad=1, groups=2, pool=average_pool(2, 1), design="k2"),
    layer("conv3", 3, kernel=2, stride=2, relu=False, design="k2"),
    layer("fc4", 3, relu=False, design="full"),
    designs={
        "first": {"k": 3, "n_cu": 2, "d": 2, "mul_latency": 1, "add_latency": 2},
        "k2": {"k": 2, "n_cu": 3, "d": 2, "mul_latency": 1, "add_latency": 2},
        "full": {"k": 1, "n_cu": 2, "mul_latency": 1, "add_latency": 2},
    },
    backward="combined",
)

NARROW = """
[network.storage]
image = "uint8"
maps = "bfloat16"
deltas = "binary16"
kernels = "bfloat16"
gradients = "binary16"
"""


def check_steps(network: Network, engine: str, momentum: float, steps: int) -> None:
    """Train from one start in the hardware and in the golden model; bytes are the formula's."""
    hardware = HardwareStep(FusedLayers(network, 2), engine)
    formula = step_bytes(network, 2, Count(name="all", state="pooled"))
    found = train_on(
        hardware, network, 2, steps=steps, momentum=momentum, decay=0.02, pooled=True
    )  # fmt: skip
    assert same(found)
    for _, _, audits, *_ in found.steps:
        assert list(audits) == [
            *((name, "fp") for name in ("conv1", "conv2", "conv3", "fc4")),
            ("fc4", "dp"), ("conv3", "bp"), ("conv2", "bp"), ("conv1", "ku"), ("fc4", "ku"),
        ]  # fmt: skip
        counts = by_phase(audits, network, VELOCITY_WORDS)
        assert {phase: each.bytes for phase, each in counts.items()} == {
            phase: formula[phase] for phase in ("fp", "dp", "bp", "ku")
        }
        velocities = sum(each.velocities for each in counts.values())
        assert velocities == bool(momentum) * formula["momentum"]


@pytest.mark.parametrize(
    ("text", "momentum", "steps"),
    [(NETWORK + NARROW, 0.5, 1), *rows_in_full((NETWORK, 0.9, 2), (NETWORK, 0.0, 2))],
    ids=["narrow", "plain", "without momentum"],
)
def test_it_ends_in_the_golden_bits(text: str, momentum: float, steps: int, tmp_path: Path) -> None:
    check_steps(network_of(tmp_path, text), "myhdl", momentum, steps)


@pytest.mark.full
@pytest.mark.parametrize("engine", engines("verilator", "ghdl"))
def test_generated_code_ends_in_the_golden_bits(engine: str, tmp_path: Path) -> None:
    check_steps(network_of(tmp_path, NETWORK + NARROW), engine, 0.5, 2)


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """``merp train`` of a few images; the network file itself says separate."""
    file, data = tmp_path / "net.toml", tmp_path / "data.npz"
    file.write_text(NETWORK.replace('backward = "combined"\n', ""))
    rng = np.random.default_rng(0)
    np.savez(data, images=rng.uniform(-1, 1, (10, 6, 6)), labels=rng.integers(0, 3, 10))
    return ["train", str(file), "--data", str(data), "--batch", "2", "--steps", "1"]


@pytest.mark.full
def test_files_are_those_of_separate_passes(
    command: list[str], terminal: Terminal, tmp_path: Path
) -> None:
    ways = {
        "golden": ("--engine", "golden"),
        "golden fused": ("--engine", "golden", "--backward", "combined"),
        "separate": ("--engine", "myhdl", "--backward", "separate"),
        "fused": ("--engine", "myhdl", "--backward", "combined"),
        "board": ("--engine", "myhdl", "--backward", "combined", "--board", "kc705"),
    }
    answers, saved = {}, {}
    for name, options in ways.items():
        file = tmp_path / f"{name}.npz"
        answers[name] = terminal.answer(*command, *options, "--save", file)
        saved[name] = file.read_bytes()
    assert len(set(saved.values())) == 1
    fused, separate = answers["fused"], answers["separate"]
    assert (fused["backward"], separate["backward"]) == ("fused", "separate")
    counted = fused["bytes"]
    assert counted["measured"]["full"] == counted["full"]
    assert counted["full"]["step"] < separate["bytes"]["measured"]["full"]["step"]
    assert "bp" not in separate["bytes"]["full"]
    assert fused["cycles"]["bp"]["total"] > 0
    assert answers["golden fused"]["bytes"]["full"] == counted["full"]
    board = answers["board"]
    assert board["bytes"]["measured"]["full"] == board["bytes"]["plan"]
    assert {(run["layer"], run["phase"]) for run in board["runs"] if run["phase"] != "fp"} == {
        ("conv1", "ku"), ("conv2", "bp"), ("conv3", "bp"), ("fc4", "dp"), ("fc4", "ku"),
    }  # fmt: skip
    assert board["not_in_one_pass"] == fused["not_in_one_pass"]


def test_the_library_trains_in_one_pass(
    command: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data = np.load(tmp_path / "data.npz")
    pair = data["images"], data["labels"]
    net = merp.load(command[1])
    fused = net.train(pair, engine="myhdl", backward="combined", batch=2, steps=1)
    golden = net.train(pair, batch=2, steps=1)
    assert [row["phase"] for row in fused.traffic] == ["fp", "dp", "bp", "ku", "step"]
    for name, both in golden.words.items():
        for got, right in zip(fused.words[name], both, strict=True):
            np.testing.assert_array_equal(got, right)
    show(fused.json(), MACHINE, details=False)
    said = " ".join(capsys.readouterr().out.split())
    assert "On the ports deltas are at pooled resolution." in said
    assert "Not in one pass: fc4 has dp and ku, because it is fully connected" in said
    with pytest.raises(merp.BadInput, match="backward = 'both'"):
        net.train(pair, backward="both")


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (("[design.k2]", "[design.k2]\nmap_port = 2"), (), "conv2: runs on a design of several"),
        (("n_cu = 3", "n_cu = 1\nr = 1"), (), "mixed: layer conv2: n_cu = 1: two halves of a pass"),
        (None, ("--state-bits", "1"), "--state-bits 1: --backward combined runs the hardware"),
    ],
)
def test_what_cannot_be_trained_so_is_refused(
    change: tuple[str, str] | None,
    options: tuple[str, ...],
    said: str,
    command: list[str],
    terminal: Terminal,
) -> None:
    if change is not None:
        file = Path(command[1])
        file.write_text(file.read_text().replace(*change))
    for engine in ("golden", "myhdl"):
        line = terminal.refusal(*command, "--engine", engine, "--backward", "combined", *options)
        assert said in line


def test_a_residual_network_is_refused(command: list[str], terminal: Terminal) -> None:
    """The deltas of conv2 start at those of the sums that conv1 is added to."""
    layers = "".join(
        f'[[layer]]\nname = "conv{i}"\nmaps = 2\nkernel = 1\ndesign = "k1"\n{more}'
        for i, more in ((1, ""), (2, ""), (3, 'add = "conv1"\n'))
    )
    text = (
        '[network]\nname = "added"\ninput = { rows = 6, columns = 6, channels = 1 }\n'
        f"{layers}[design.k1]\nk = 1\nn_cu = 2\n"
    )
    Path(command[1]).write_text(text)
    line = terminal.refusal(*command, "--backward", "combined")
    assert "added: layer conv2: starts its deltas at those of another one" in line


def test_a_planted_fault_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(record: RunRecord, expected: Expectation) -> Audit:
        status = dict(record.outcome.status)
        if "delta_out" in expected.ports and "kernel_out" in expected.ports:
            status["status_bias_velocity_out"] -= 1
        outcome = replace(record.outcome, status=status)
        return audit(replace(record, outcome=outcome), expected)

    monkeypatch.setattr(run_and_audit, "audit", faulty)
    network = network_of(tmp_path, NETWORK)
    rates = rates_of(0.1, 1, network.fmt, momentum=0.5)
    images = to_bits(np.ones((1, 6, 6, 1)), network.fmt)
    labels = np.zeros(1, np.int64)
    step = HardwareStep(FusedLayers(network, 1), "myhdl").step
    with pytest.raises(CheckFailed, match="conv3 bp group 0: port bias_velocity_out: counts"):
        step(initial_model(network, 0), images, labels, rates)


@pytest.mark.full
@pytest.mark.verilator
@needs("scikit-learn")
def test_the_digits_learn_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ("--data", "digits", "--batch", "8", "--steps", "10")
    ways = {"golden": (), "fused": ("--engine", "verilator", "--backward", "combined")}
    for name, more in ways.items():
        saved = str(tmp_path / f"{name}.npz")
        assert cli.main(["train", "digits", *options, *more, "--save", saved]) == 0
    assert (tmp_path / "fused.npz").read_bytes() == (tmp_path / "golden.npz").read_bytes()
