"""Training steps in the hardware end in the golden's bits, and move what the closed form says."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from marks import in_full, rows_in_full
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.machines.training.hardware_step import HardwareStep
from merp.models.arithmetic.words import to_bits
from merp.models.golden.training import Model, initial_model, rates_of, train_step
from merp.models.machines.cnn_merp.params.word_counters import VELOCITY_WORDS
from merp.models.network.network import Network
from merp.models.network.network_file import read_network
from merp.models.traffic.closed_form import step_bytes
from merp.models.traffic.count import Count
from merp.tools import cli
from merp.tools.train.counts import by_phase
from needed_tools import needs
from network_text import average_pool, layer, max_pool, network_text
from terminal import Terminal

# State is joined from conv2's groups for fc3, and cut for them from conv1.
GROUPED = network_text(
    "grouped",
    (6, 6, 1),
    layer("conv1", 4, kernel=3, pad=1, pool=max_pool(3, 2), design="k3"),
    layer("conv2", 4, kernel=3, pad=2, groups=2, pool=average_pool(2, 2), design="k3"),
    layer("fc3", 3, relu=False, design="full"),
    designs={
        "k3": {"k": 3, "n_cu": 2, "d": 2, "mul_latency": 1, "add_latency": 2},
        "full": {"k": 1, "n_cu": 2, "mul_latency": 1, "add_latency": 2},
    },
)

# The last layer has ReLU and pooling of its own, which the host undoes; the stride is dilated.
POOLED_END = network_text(
    "end",
    (5, 5, 1),
    layer("conv1", 2, kernel=2, pad=1, design="k2"),
    layer("conv2", 3, kernel=2, stride=2, pool=max_pool(3, 1), design="k2"),
    designs={"k2": {"k": 2, "n_cu": 1, "r": 1, "d": 2, "mul_latency": 1, "add_latency": 1}},
)

# conv3 adds what conv1 made, whose delta starts at that of conv3; conv4 and conv5 take one output,
# conv5 is only added; fc7 adds its own input.
RESIDUAL = network_text(
    "residual",
    (5, 6, 2),
    layer("conv1", 3, kernel=2, pool=max_pool(2, 1), design="k2"),
    layer("conv2", 4, kernel=2, pad=[0, 0, 1, 1], design="k2"),
    layer("conv3", 3, kernel=2, pad=[0, 0, 1, 1], add="conv1", design="k2"),
    layer("conv4", 4, kernel=2, stride=2, pad=[0, 0, 1, 0], design="k2"),
    layer("conv5", 4, input="conv3", kernel=1, stride=2, relu=False, design="k2"),
    layer(
        "conv6",
        4,
        input="conv4",
        kernel=2,
        pad=[0, 0, 1, 1],
        groups=2,
        add="conv5",
        pool={"kind": "average", "window": 2},
        design="k2",
    ),
    layer("fc7", 4, add="conv6", design="k2"),
    layer("fc8", 3, relu=False, design="k2"),
    designs={"k2": {"k": 2, "n_cu": 2, "d": 2, "p": 2, "mul_latency": 1, "add_latency": 2}},
)

# Several pooling windows hang over each edge; the maps of conv1 keep their size, others grow.
FAR = network_text(
    "far",
    (4, 5, 1),
    layer("conv1", 3, kernel=3, pad=1, pool=max_pool(3, 1, pad=1), design="k3"),
    layer("conv2", 2, kernel=3, pad=1, pool=average_pool(3, 1, pad=[2, 1, 0, 2]), design="k3"),
    layer("conv3", 3, kernel=3, pool=max_pool(2, 1, pad=[0, 0, 1, 1]), relu=False, design="k3"),
    layer("conv4", 2, kernel=3, pad=1, pool=max_pool(5, 2, pad=4), design="k3"),
    layer("fc5", 3, relu=False, design="full"),
    designs={
        "k3": {"k": 3, "n_cu": 2, "d": 2, "mul_latency": 1, "add_latency": 2},
        "full": {"k": 1, "n_cu": 2, "mul_latency": 1, "add_latency": 2},
    },
)


def network_of(folder: Path, text: str) -> Network:
    path = folder / "network.toml"
    path.write_text(text)
    return read_network(path)


NARROW = """
[network.storage]
maps = "bfloat16"
deltas = "binary16"
kernels = "bfloat16"
gradients = "binary16"
"""


IN_BYTES = """
[network.storage]
image = "uint8"
[design.first]
k = 3
n_cu = 2
map_port = 2
"""


def in_bytes(text: str) -> str:
    """The same network, its image in bytes, on a design of the first layer's own."""
    name = re.findall(r'design = "(.*)"', text)[0]
    return text.replace(f'design = "{name}"', 'design = "first"', 1) + IN_BYTES


def narrower(text: str) -> str:
    """The same network, its tensors in memory in formats narrower than binary32."""
    return text + NARROW


def assert_same(found: Model, wanted: Model, part: str) -> None:
    for name, both in getattr(wanted, part).items():
        for got, golden in zip(getattr(found, part)[name], both, strict=True):
            assert got.dtype == golden.dtype
            np.testing.assert_array_equal(got, golden, err_msg=f"{name} {part}")


def check_steps(
    network: Network, engine: str, momentum: float, steps: int, decay: float = 0.0
) -> None:
    """Train from the same start in the hardware and in the golden model."""
    images, fmt = 2, network.fmt
    rng = np.random.default_rng(1)
    rates = rates_of(0.1, images, fmt, momentum=momentum, weight_decay=decay)
    found = wanted = initial_model(network, 3)
    hardware = HardwareStep(WholeLayers(network, images), engine)
    for _ in range(steps):
        batch = to_bits(rng.uniform(0, 1, (images, *network.input)), fmt)
        labels = rng.integers(0, 3, images)
        golden = train_step(network, wanted, batch, labels, rates)
        wanted = golden.model
        found, loss, audits, *_ = hardware.step(found, batch, labels, rates)
        counts = by_phase(audits, network, VELOCITY_WORDS)
        assert loss == golden.loss
        assert_same(found, wanted, "parameters")
        assert_same(found, wanted, "velocities")
        paper = step_bytes(network, images, Count())
        full = step_bytes(network, images, Count(name="all", state="pooled"))
        assert {phase: each.maps for phase, each in counts.items()} == {
            phase: paper[phase] for phase in ("fp", "dp", "ku")
        }
        assert sum(each.velocities for each in counts.values()) == bool(momentum) * full["momentum"]
        assert all(each.cycles > 0 for each in counts.values())
        assert all(each.bytes > each.maps for each in counts.values())


def test_a_grouped_network_ends_in_the_golden_bits(tmp_path: Path) -> None:
    check_steps(network_of(tmp_path, GROUPED), "myhdl", 0.9, 2, 0.02)


@pytest.mark.parametrize(
    ("text", "steps"),
    [(narrower(RESIDUAL), 1), *rows_in_full((narrower(GROUPED), 2), (in_bytes(GROUPED), 1))],
    ids=["residual", "grouped", "bytes"],
)
def test_what_is_stored_narrower_ends_in_the_golden_bits(
    text: str, steps: int, tmp_path: Path
) -> None:
    check_steps(network_of(tmp_path, text), "myhdl", 0.9, steps, 0.02)


def test_the_host_undoes_the_last_pooling_and_no_momentum_is_built(tmp_path: Path) -> None:
    check_steps(network_of(tmp_path, POOLED_END), "myhdl", 0.0, 1)


@pytest.mark.full
def test_windows_that_hang_over_by_more_than_a_stride_end_in_the_golden_bits(
    tmp_path: Path,
) -> None:
    check_steps(network_of(tmp_path, FAR), "myhdl", 0.9, 2)


def test_branches_and_additions_end_in_the_golden_bits(tmp_path: Path) -> None:
    check_steps(network_of(tmp_path, RESIDUAL), "myhdl", 0.9, 1)


@pytest.mark.full
@pytest.mark.verilator
@needs("scikit-learn")
def test_a_residual_network_learns_the_same_in_the_hardware(tmp_path: Path) -> None:
    """In one piece, and in the passes of a board; with four maps and deltas a beat."""
    file = tmp_path / "mine.toml"
    base = 'base = "resnet-digits"\n[network]\nname = "mine"\n'
    file.write_text(f"{base}[design.k3]\nmap_port = 4\n")
    options = ("--data", "digits", "--batch", "4", "--steps", "10", "--state-bits", "pooled")
    engines = {
        "golden": ("--engine", "golden"),
        "verilator": ("--engine", "verilator"),
        "board": ("--engine", "verilator", "--board", "kc705"),
    }
    for name, chosen in engines.items():
        saved = str(tmp_path / f"{name}.npz")
        assert cli.main(["train", str(file), *options, *chosen, "--save", saved]) == 0
    golden = (tmp_path / "golden.npz").read_bytes()
    assert (tmp_path / "verilator.npz").read_bytes() == golden
    assert (tmp_path / "board.npz").read_bytes() == golden


@pytest.mark.verilator
@pytest.mark.parametrize("text", [POOLED_END, *in_full(FAR, narrower(POOLED_END))])
def test_verilator_ends_in_the_golden_bits(text: str, tmp_path: Path) -> None:
    check_steps(network_of(tmp_path, text), "verilator", 0.5, 3, 0.1)


@pytest.mark.full
@needs("scikit-learn")
@pytest.mark.parametrize(
    ("network", "engine", "batch", "steps"),
    [
        pytest.param("digits", "verilator", 8, 20, marks=pytest.mark.verilator),
        pytest.param("digits-bf16", "verilator", 8, 5, marks=pytest.mark.verilator),
        ("digits-bf16", "myhdl", 2, 2),
    ],
)
def test_the_digits_learn_the_same_in_the_hardware(
    network: str, engine: str, batch: int, steps: int, terminal: Terminal, tmp_path: Path
) -> None:
    options = ("--data", "digits", "--batch", str(batch), "--steps", str(steps), "--json")
    options += ("--weight-decay", "0.001")
    found = {}
    for each in ("golden", engine):
        saved = str(tmp_path / f"{each}.npz")
        found[each] = json.loads(
            terminal.output("train", network, *options, "--engine", each, "--save", saved)
        )
    golden, hardware = found["golden"], found[engine]
    assert (tmp_path / f"{engine}.npz").read_bytes() == (tmp_path / "golden.npz").read_bytes()
    assert hardware["loss"] == golden["loss"]
    assert hardware["accuracy"] == golden["accuracy"]
    assert hardware["bytes"]["measured"]["paper"] == golden["bytes"]["paper"]
