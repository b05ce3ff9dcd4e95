"""Training steps with frozen layers in hardware: the golden's bits, and only the passes needed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from trained import network_of, same, train_on

from marks import engines
from merp.cosim.machines.cnn_merp.training.fused_layers import FusedLayers
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.machines.training.hardware_step import HardwareStep
from merp.models.machines.cnn_merp.cycles import network_cycles
from merp.models.machines.cnn_merp.params.word_counters import VELOCITY_WORDS
from merp.models.network.network import Network
from merp.models.network.network_file import read_network
from merp.models.traffic.closed_form import step_bytes
from merp.models.traffic.count import Count
from merp.tools.cli import main
from merp.tools.common.data import DATA
from merp.tools.train.counts import by_phase
from needed_tools import needs
from network_text import layer, max_pool, network_text
from terminal import Terminal

UNITS = {"n_cu": 2, "d": 2, "mul_latency": 1, "add_latency": 1}
DESIGNS = {"k2": {"k": 2, **UNITS}, "full": {"k": 1, **UNITS}}

# conv3 adds a frozen output, conv4 is frozen between trainable layers, and conv5 adds one of them.
BRANCHED = network_text(
    "branched",
    (4, 4, 1),
    layer("conv1", 2, kernel=2, pool=max_pool(2, 1), trainable=False, design="k2"),
    layer("conv2", 2, kernel=2, pad=[0, 0, 1, 1], trainable=False, design="k2"),
    layer("conv3", 2, kernel=2, pad=[0, 0, 1, 1], add="conv1", design="k2"),
    layer("conv4", 2, kernel=2, pad=[0, 0, 1, 1], trainable=False, design="k2"),
    layer("conv5", 2, kernel=2, pad=[0, 0, 1, 1], add="conv3", design="k2"),
    layer("fc6", 3, relu=False, trainable=False, design="k2"),
    designs={"k2": DESIGNS["k2"] | {"p": 2}},
)

# No additions and other designs for fully connected layers, as a combined pass needs.
CHAINED = network_text(
    "chained",
    (4, 4, 1),
    layer("conv1", 2, kernel=2, trainable=False, design="k2"),
    layer("conv2", 2, kernel=2, pad=1, pool=max_pool(2, 2), design="k2"),
    layer("conv3", 2, kernel=2, pad=1, pool=max_pool(2, 1), trainable=False, design="k2"),
    layer("conv4", 2, kernel=2, pad=[0, 0, 1, 1], design="k2"),
    layer("fc5", 3, relu=False, design="full"),
    designs=DESIGNS,
)


def check(network: Network, engine: str, passes: list[str]) -> None:
    """A step in hardware has these backward passes, the golden's bits and the formula's bytes."""
    pooled = network.backward == "combined"
    layers = (FusedLayers if pooled else WholeLayers)(network, 2)
    found = train_on(HardwareStep(layers, engine), network, 2, momentum=0.5, pooled=pooled)
    assert same(found)
    (step,) = found.steps
    assert [f"{name} {phase}" for name, phase in step.audits if phase != "fp"] == passes
    velocities, maps = 0, step_bytes(network, 2, Count())
    full = step_bytes(network, 2, Count(name="all", state="pooled"))
    for phase, each in by_phase(step.audits, network, VELOCITY_WORDS).items():
        moved, wanted = (each.bytes, full[phase]) if pooled else (each.maps, maps[phase])
        assert moved == wanted
        velocities += each.velocities
    assert velocities == full["momentum"]


def test_branches_with_frozen_layers(tmp_path: Path) -> None:
    passes = ["fc6 dp", "conv5 dp", "conv4 dp", "conv3 ku", "conv5 ku"]
    check(network_of(tmp_path, BRANCHED), "myhdl", passes)


@pytest.mark.full
@pytest.mark.parametrize("engine", ["myhdl", *engines("verilator", "ghdl")])
@pytest.mark.parametrize(
    ("backward", "passes"),
    [
        (
            "separate",
            ["fc5 dp", "conv4 dp", "conv3 dp", "conv2 ku", "conv4 ku", "fc5 ku"],
        ),
        ("combined", ["fc5 dp", "conv4 bp", "conv3 dp", "conv2 ku", "fc5 ku"]),
    ],
)
def test_chains_with_frozen_layers(
    backward: str, passes: list[str], engine: str, tmp_path: Path
) -> None:
    check(replace(network_of(tmp_path, CHAINED), backward=backward), engine, passes)


@pytest.fixture
def frozen_block(tmp_path: Path) -> Path:
    """``resnet-digits`` with its first block frozen."""
    path = tmp_path / "mine.toml"
    frozen = "".join(f"[layer.conv{place}]\ntrainable = false\n" for place in (1, 2, 3))
    path.write_text(f'base = "resnet-digits"\n[network]\nname = "mine"\n{frozen}')
    return path


@pytest.mark.full
@pytest.mark.verilator
@needs("scikit-learn")
def test_a_residual_network_with_a_frozen_block(frozen_block: Path, tmp_path: Path) -> None:
    """Three steps leave golden's file, also on a board; words are the formula's, cycles near it."""
    options = ("--batch", "4", "--steps", "3", "--state-bits", "pooled", "-o")
    ways = {
        "golden": ("--engine", "golden"),
        "verilator": ("--engine", "verilator"),
        "board": ("--engine", "verilator", "--board", "kc705"),
    }
    saved = {}
    for name, way in ways.items():
        file, folder = tmp_path / f"{name}.npz", tmp_path / name
        words = ("train", frozen_block, *options, folder, *way, "--save", file)
        assert main([*map(str, words)]) == 0
        saved[name] = file.read_bytes()
    assert saved["verilator"] == saved["golden"]
    assert saved["board"] == saved["golden"]
    answer = json.loads((tmp_path / "verilator" / "train.json").read_text())
    moved = answer["bytes"]
    assert moved["measured"]["paper"] == moved["paper"]
    network, cycles = read_network(frozen_block, DATA), dict.fromkeys(("fp", "dp", "ku"), 0)
    for _, phase, found in network_cycles(network, 4):
        cycles[phase] += found.total
    for phase, wanted in cycles.items():
        assert answer["cycles"][phase]["total"] == pytest.approx(wanted, rel=0.02)


@pytest.mark.parametrize("architecture", ["pipeline", "chain"])
def test_a_pipeline_refuses_frozen_layers(
    architecture: str, terminal: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "net.toml"
    path.write_text('base = "tiny3"\n[network]\nname = "t"\n[layer.conv1]\ntrainable = false\n')
    said = terminal.refusal("train", path, "--architecture", architecture, "--batch", 2)
    assert "t: layer conv1: it is frozen: a pipeline does not support it" in said
