"""Layers that take several outputs together, or only pool, train with golden's bits."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import merp
from marks import few, in_full
from network_text import average_pool, layer, max_pool, network_text
from terminal import Terminal

DESIGNS = {
    "k3": {"k": 3, "n_cu": 2, "r": 1, "mul_latency": 1, "add_latency": 2},
    "k1": {"k": 1, "n_cu": 2, "r": 1, "mul_latency": 1, "add_latency": 2},
}
DOT, CROSS = {"kernel": 1, "design": "k1"}, {"kernel": 3, "pad": 1, "design": "k3"}

# conv2 and conv3 have equal ReLU and pooling, conv5 and conv6 have not.
FIRE = network_text(
    "fire",
    (6, 6, 2),
    layer("conv1", 3, **CROSS),
    layer("conv2", 8, pool=max_pool(2, 2), **DOT),
    layer("conv3", 8, input="conv1", pool=max_pool(2, 2), **CROSS),
    layer("conv4", 4, input=["conv3", "conv2"], **DOT),
    layer("fc5", 3, relu=False, design="k3"),
    designs=DESIGNS,
)
MIXED = network_text(
    "mixed",
    (6, 6, 2),
    layer("conv1", 3, **CROSS),
    layer("conv2", 2, **DOT),
    layer("conv3", 4, input="conv1", **CROSS),
    layer("conv4", 3, input=["conv2", "conv3"], pool=max_pool(2, 2), **DOT),
    layer("conv5", 2, input=["conv2", "conv3"], stride=2, relu=False, **CROSS),
    layer("fc6", 3, input=["conv5", "conv4"], relu=False, design="k3"),
    designs=DESIGNS,
    storage={"deltas": "bfloat16", "maps": "bfloat16"},
)
# As in Inception: a pooling beside convolutions, and another one behind all.
POOLED = network_text(
    "pooled",
    (6, 6, 2),
    layer("conv1", 3, **CROSS),
    {"name": "pool2", "pool": max_pool(2, 2), "design": "k1"},
    layer("conv3", 4, input="conv1", stride=2, **CROSS),
    layer("conv4", 3, input=["pool2", "conv3"], pool=max_pool(2, 1), **DOT),
    {"name": "pool5", "pool": average_pool(2, 2), "relu": True, "design": "k1"},
    layer("fc6", 3, relu=False, design="k3"),
    designs=DESIGNS,
)
# Its pooling keeps the size of the maps.
INCEPTION = network_text(
    "inception",
    (6, 6, 2),
    layer("conv1", 3, pool=max_pool(2, 1), **CROSS),
    {"name": "pool2", "pool": max_pool(3, 1, pad=1), "design": "k1"},
    layer("conv3", 4, **DOT),
    layer("conv4", 3, input="conv1", **CROSS),
    layer("conv5", 2, input=["conv4", "conv3"], pool=average_pool(3, 1, pad=1), **DOT),
    layer("fc6", 3, relu=False, design="k3"),
    designs=DESIGNS,
)
# The average of maps of 6 x 4 elements is a convolution of 6 x 6.
OBLONG = network_text(
    "oblong",
    (6, 6, 2),
    layer("conv1", 3, kernel=3, pad=[1, 0, 1, 0], design="k3"),
    {"name": "pool2", "pool": {"kind": "average", "window": "map"}, "design": "k6"},
    layer("fc3", 3, relu=False, design="k3"),
    designs={"k3": DESIGNS["k3"], "k6": {**DESIGNS["k1"], "k": 6, "n_cu": 1}},
)
NETWORKS = {
    "fire": FIRE,
    "mixed": MIXED,
    "pooled": POOLED,
    "inception": INCEPTION,
    "oblong": OBLONG,
}


@pytest.fixture
def train(tmp_path: Path, terminal: Terminal) -> Callable[..., bytes]:
    """Train a network for two steps of two images; the saved file is the result."""
    dice = np.random.default_rng(0)
    data = tmp_path / "data.npz"
    np.savez(data, images=dice.standard_normal((5, 6, 6, 2)), labels=dice.integers(0, 3, 5))

    def trained(name: str, *options: object) -> bytes:
        path = tmp_path / f"{name}.toml"
        path.write_text(NETWORKS[name])
        saved = tmp_path / "saved.npz"
        words = ["train", path, "--data", data, "--batch", 2, "--steps", 2, "--momentum", 0.5]
        terminal.answer(*words, "--save", saved, *options)
        found = saved.read_bytes()
        saved.unlink()
        return found

    return trained


def test_a_layer_that_pools_has_kernels_of_one(tmp_path: Path, terminal: Terminal) -> None:
    """Training leaves them, and it has no kernel update."""
    path = tmp_path / "pooled.toml"
    path.write_text(POOLED)
    data, saved = tmp_path / "data.npz", tmp_path / "saved.npz"
    np.savez(data, images=np.ones((5, 6, 6, 2)), labels=np.arange(5) % 3)
    terminal.answer("train", path, "--data", data, "--batch", 2, "--steps", 1, "--save", saved)
    with np.load(saved) as found:
        np.testing.assert_array_equal(found["pool2.kernel"], np.ones((3, 1, 1, 1)))
        np.testing.assert_array_equal(found["pool2.bias"], np.zeros(3))
    told = terminal.refusal("simulate", path, "--layer", "pool2", "--phase", "ku")
    assert "pool2 is frozen" in told


@pytest.mark.parametrize("name", few(list(NETWORKS), "mixed", "oblong"))
def test_the_hardware_trains_like_golden(name: str, train: Callable[..., bytes]) -> None:
    """Every pass of the hardware is compared with golden's, too."""
    assert train(name, "--engine", "myhdl") == train(name)


@pytest.mark.parametrize("name", in_full(*NETWORKS))
def test_a_plan_trains_like_golden(name: str, train: Callable[..., bytes]) -> None:
    assert train(name, "--board", "zc706", "--engine", "myhdl") == train(name)


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("name", NETWORKS)
def test_verilator_trains_like_golden(name: str, train: Callable[..., bytes]) -> None:
    assert train(name, "--engine", "verilator") == train(name)


@pytest.mark.full
@pytest.mark.verilator
def test_the_system_has_one_tensor_of_both(train: Callable[..., bytes]) -> None:
    """Both layers write it in place; neither host nor hardware copies a word."""
    assert train("fire", "--engine", "system") == train("fire")


@pytest.mark.parametrize("architecture", ["chain", "pipeline"])
def test_a_chain_of_layers_refuses_them(
    architecture: str, train: Callable[..., bytes], terminal: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "fire.toml"
    path.write_text(FIRE)
    words = ["train", path, "--data", tmp_path / "data.npz", "--architecture", architecture]
    refused = terminal.refusal(*words, "--engine", "myhdl", "--batch", 2, "--steps", 1)
    assert "layer conv3: it takes the output of layers that are not in front of it" in refused


def test_deltas_of_sums_are_refused_where_layers_differ(tmp_path: Path, terminal: Terminal) -> None:
    path = tmp_path / "mixed.toml"
    path.write_text(MIXED)
    words = ["simulate", path, "--layer", "conv4", "--phase", "dp", "--delta-at", "sums"]
    assert terminal.refusal(*words) == (
        "merp: --delta-at sums: mixed has a concatenation of layers with different ReLU or "
        "pooling, which takes deltas at pooled resolution: allowed: pooled"
    )


def test_the_library_stores_deltas_where_they_can_be_expanded(tmp_path: Path) -> None:
    path = tmp_path / "mixed.toml"
    path.write_text(MIXED)
    layer = merp.load(str(path))["fc6"]
    found = layer.run(phase="dp")
    assert found.passed
    with pytest.raises(merp.BadInput, match="mixed has a concatenation of layers with different"):
        layer.run(phase="dp", delta_at="sums")


@pytest.mark.parametrize("name", ["fire", "mixed"])
@pytest.mark.parametrize(
    ("phase", "option"),
    [("fp", ["--state"]), *((each, ["--delta-at", "pooled"]) for each in ("dp", "ku"))],
)
def test_passes_alone_move_what_the_report_says(
    name: str, phase: str, option: list[str], tmp_path: Path, terminal: Terminal
) -> None:
    """Of the layer that takes the maps of two."""
    path = tmp_path / f"{name}.toml"
    path.write_text(NETWORKS[name])
    words = ["simulate", path, "--layer", "conv4", "--phase", phase, "--images", 2, *option]
    found = terminal.answer(*words)
    assert found["bit_exact"]
    told = terminal.answer("traffic", path, "--batch", 2, "--count", "all", "--state", "pooled")
    row = next(each for each in told["layers"] if each["name"] == "conv4")
    assert found["mb_per_gflop"]["full"] == row[phase]["mb_per_gflop"]
