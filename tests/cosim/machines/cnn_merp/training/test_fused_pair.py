"""Training steps with two layers fused in forward propagation: the golden's bits, fewer bytes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from trained import network_of, same, train_on

import merp
from marks import engines, rows_in_full
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.training.fused_layers import FusedLayers
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.machines.training.hardware_step import HardwareStep
from merp.cosim.phases.audit import run_and_audit
from merp.cosim.phases.audit.audit import Audit, audit
from merp.cosim.phases.expectation import Expectation
from merp.models.arithmetic.words import to_bits
from merp.models.base.errors import CheckFailed
from merp.models.golden.training import initial_model, rates_of
from merp.models.machines.cnn_merp.params.word_counters import VELOCITY_WORDS
from merp.models.network.network import Network
from merp.models.traffic.closed_form import step_bytes
from merp.models.traffic.count import Count
from merp.tools.train.counts import by_phase
from network_text import layer, max_pool, network_text
from terminal import Terminal

# Two groups side by side, whose state takes turns; fc4 takes maps flattened.
NETWORK = network_text(
    "pair",
    (7, 6, 2),
    layer("conv1", 4, kernel=2, pool=max_pool(2, 2), design="first"),
    layer("conv2", 16, kernel=3, pad=1, groups=2, design="k3"),
    layer("conv3", 3, kernel=3, pad=1, design="k3"),
    layer("fc4", 3, relu=False, design="k1"),
    designs={
        "first": {"k": 2, "n_cu": 2, "mul_latency": 1, "add_latency": 2},
        "k3": {"k": 3, "n_cu": 4, "mul_latency": 1, "add_latency": 2},
        "k1": {"k": 1, "n_cu": 2, "mul_latency": 1, "add_latency": 2},
    },
    layer_fusion=["conv1", "conv2"],
)
TWO_RUNS = NETWORK.replace(
    'kernel = 2\npool = { kind = "max"', 'kernel = 2\ngroups = 2\npool = { kind = "average"'
)
"""A first layer of as many groups as the second: a run for each, and state of one group."""

NARROW = """
[network.storage]
image = "uint8"
maps = "bfloat16"
deltas = "binary16"
kernels = "bfloat16"
"""


def check_steps(network: Network, engine: str, steps: int, *, one_pass: bool) -> None:
    """Train from one start in the hardware and in the golden model; bytes are the formula's."""
    network = replace(network, backward="combined" if one_pass else "separate")
    layers = (FusedLayers if one_pass else WholeLayers)(network, 2)
    hardware = HardwareStep(layers, engine)
    formula = step_bytes(network, 2, Count(name="all", state="pooled"))
    found = train_on(hardware, network, 2, steps=steps, momentum=0.5, pooled=one_pass)
    assert same(found)
    for _, _, audits, *_ in found.steps:
        assert [each for each in audits if each[1] in ("fp", "ff")] == [
            ("conv1", "ff"), ("conv3", "fp"), ("fc4", "fp"),
        ]  # fmt: skip
        counts = by_phase(audits, network, VELOCITY_WORDS)
        assert counts["fp"].bytes == formula["fp"]
        if one_pass:
            assert counts["bp"].bytes == formula["bp"]


@pytest.mark.parametrize(
    ("text", "one_pass"),
    [(NETWORK + NARROW, False), *rows_in_full((NETWORK, True), (TWO_RUNS, False))],
    ids=["narrow", "back in one pass", "a run for each group"],
)
def test_it_ends_in_the_golden_bits(text: str, one_pass: bool, tmp_path: Path) -> None:
    check_steps(network_of(tmp_path, text), "myhdl", 1, one_pass=one_pass)


@pytest.mark.full
@pytest.mark.parametrize("engine", engines("verilator", "ghdl"))
def test_generated_code_ends_in_the_golden_bits(engine: str, tmp_path: Path) -> None:
    check_steps(network_of(tmp_path, NETWORK + NARROW), engine, 2, one_pass=False)


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """``merp train`` of a few images."""
    file, data = tmp_path / "net.toml", tmp_path / "data.npz"
    file.write_text(NETWORK)
    rng = np.random.default_rng(0)
    images = rng.uniform(-1, 1, (10, 7, 6, 2))
    np.savez(data, images=images, labels=rng.integers(0, 3, 10))
    return ["train", str(file), "--data", str(data), "--batch", "2", "--steps", "1"]


def test_files_are_those_of_layers_apart(
    command: list[str], terminal: Terminal, tmp_path: Path
) -> None:
    """The map between is read back for the update alone: a reading less than apart."""
    saved, counted = {}, {}
    for name, engine, text in (
        ("golden", "golden", NETWORK),
        ("fused", "myhdl", NETWORK),
        ("apart", "golden", NETWORK.replace('layer_fusion = ["conv1", "conv2"]\n', "")),
    ):
        Path(command[1]).write_text(text)
        kept = ("--state-bits", "pooled", "--save", tmp_path / name)
        counted[name] = terminal.answer(*command, "--engine", engine, *kept)["bytes"]
        saved[name] = (tmp_path / name).read_bytes()
    assert len(set(saved.values())) == 1
    fused = counted["fused"]
    assert fused["measured"]["full"]["fp"] == fused["full"]["fp"] == counted["golden"]["full"]["fp"]
    less = counted["apart"]["full"]["fp"] - fused["full"]["fp"]
    assert less == 2 * 3 * 2 * 4 * 4  # images, pooled rows and columns of conv1, maps, bytes


@pytest.mark.parametrize(
    ("text", "passes"),
    [(NETWORK, 1), *rows_in_full((TWO_RUNS + NARROW.replace('image = "uint8"\n', ""), 2))],
    ids=["two groups", "narrow, a run for each group"],
)
def test_in_the_passes_of_a_plan_bits_and_bytes_are_the_same(
    text: str, passes: int, command: list[str], terminal: Terminal, tmp_path: Path
) -> None:
    """The pair is one pass, which moves the plan's bytes; files are the golden's."""
    Path(command[1]).write_text(text)
    found = {}
    for engine in ("golden", "myhdl"):
        options = ("--board", "kc705", "--engine", engine, "--save", tmp_path / engine)
        found[engine] = terminal.answer(*command, *options)
    assert (tmp_path / "golden").read_bytes() == (tmp_path / "myhdl").read_bytes()
    counted, runs = found["myhdl"]["bytes"], found["myhdl"]["runs"]
    assert counted["measured"]["full"]["fp"] == counted["plan"]["fp"] == counted["full"]["fp"]
    (pair,) = (run for run in runs if run["phase"] == "ff")
    assert (pair["layer"], pair["passes"]) == ("conv1+conv2", passes)
    assert {port["pins"] == port["plan"] > 0 for port in pair["bytes"].values()} == {True}
    assert found["myhdl"]["not_in_one_pass"] == []


def test_the_library_trains_the_pair_and_runs_a_layer_alone(command: list[str]) -> None:
    net = merp.load(command[1])
    data = np.load(Path(command[1]).parent / "data.npz")
    pair = data["images"], data["labels"]
    trained, golden = (net.train(pair, engine=e, batch=2, steps=1) for e in ("myhdl", "golden"))
    for name, both in golden.words.items():
        for got, right in zip(trained.words[name], both, strict=True):
            np.testing.assert_array_equal(got, right)
    assert [row["name"] for row in net.plan("kc705", 2) if row["phase"] == "ff"] == ["conv1+conv2"]
    assert not [row for row in net.plan("kc705", 2, layer_fusion="none") if row["phase"] == "ff"]
    with pytest.raises(merp.BadInput, match="layer_fusion = 'conv1': allowed are best, none, or"):
        net.plan("kc705", 2, layer_fusion="conv1")
    with pytest.raises(merp.BadInput, match="phase = 'ff': allowed are fp, dp, bp, ku"):
        net["conv1"].run(phase="ff")
    assert net["conv2"].run().passed


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (
            None,
            ("--engine", "myhdl", "--architecture", "pipeline"),
            "the network fuses layers",
        ),
        (("maps = 16", "maps = 12"), ("--engine", "myhdl"), "6 maps of a group is no whole bytes"),
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
        Path(command[1]).write_text(NETWORK.replace(*change))
    assert said in terminal.refusal(*command, *options)


def test_a_planted_fault_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(record: RunRecord, expected: Expectation) -> Audit:
        status = dict(record.outcome.status)
        if "between_out" in expected.ports:
            status["status_between_out"] -= 1
        return audit(replace(record, outcome=replace(record.outcome, status=status)), expected)

    monkeypatch.setattr(run_and_audit, "audit", faulty)
    network = network_of(tmp_path, NETWORK)
    rates = rates_of(0.1, 1, network.fmt)
    images = to_bits(np.ones((1, 7, 6, 2)), network.fmt)
    step = HardwareStep(WholeLayers(network, 1), "myhdl").step
    with pytest.raises(CheckFailed, match=r"conv1\+conv2 ff group 0: port between_out: counts"):
        step(initial_model(network, 0), images, np.zeros(1, np.int64), rates)
