"""F-CNN's machine: its modules train with golden's bits and bytes, layer by layer."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from marks import few
from network_text import layer, max_pool, network_text
from terminal import Terminal

MACHINE = {"architecture": "fcnn"}
FAST = {**MACHINE, "mul_latency": 1, "add_latency": 2}
TANH = network_text(
    "tanh",
    (7, 6, 2),
    layer("conv1", 5, kernel=2, activation="tanh", pool=max_pool(2, 2), design="a"),
    layer("fc2", 6, activation="tanh", design="b"),
    layer("fc3", 3, activation="none", design="c"),
    designs={
        "a": {**FAST, "lanes": 2, "maps_at_once": 2},
        "b": {**FAST, "lanes": 1, "block": 3},
        "c": {**FAST, "lanes": 4, "block": 2, "blocks": 2},
    },
)
# conv4 takes maps of two layers and has a stride, conv2 has groups and uneven padding.
BRANCHES = network_text(
    "branches",
    (7, 6, 2),
    layer("conv1", 6, kernel=3, pad=1, stride=2, design="a"),
    layer("conv2", 4, kernel=2, groups=2, pad=[0, 0, 1, 1], design="b"),
    layer("conv3", 3, kernel=1, input="conv1", design="c"),
    layer("conv4", 5, kernel=3, stride=2, pad=1, input=["conv2", "conv3"], activation="none",
          design="d"),
    layer("fc5", 3, activation="none", design="e"),
    designs={
        "a": {**FAST, "lanes": 2, "maps_at_once": 4},
        "b": {**MACHINE, "lanes": 4},
        "c": {**FAST, "lanes": 1, "maps_at_once": 2},
        "d": {**FAST, "lanes": 2, "maps_at_once": 2},
        "e": {**FAST, "lanes": 4, "block": 3},
    },
)  # fmt: skip
# Two layers take conv1's output, so that the second propagation starts at the first one's deltas.
# Windows of 2 every 3 elements leave gaps, and rows that no window needs.
GAPS = network_text(
    "gaps",
    (7, 6, 2),
    layer("conv1", 3, kernel=3, pad=1, design="a"),
    layer("conv2", 4, kernel=3, pad=2, pool=max_pool(2, 3), design="b"),
    layer("conv3", 2, kernel=5, pad=2, input="conv1", pool=max_pool(2, 2), activation="none",
          trainable=False, design="c"),
    layer("fc4", 3, input=["conv2", "conv3"], activation="none", design="d"),
    designs={
        "a": {**FAST, "lanes": 2},
        "b": {**FAST, "lanes": 4, "maps_at_once": 3},
        "c": {**FAST, "lanes": 1, "maps_at_once": 2},
        "d": {**FAST, "lanes": 4},
    },
)  # fmt: skip
# The parts of fc4's input have activations of two kinds.
MIXED = network_text(
    "mixed",
    (7, 6, 2),
    layer("conv1", 3, kernel=3, pad=1, design="a"),
    layer("conv2", 4, kernel=3, activation="tanh", design="b"),
    layer("conv3", 2, kernel=3, input="conv1", design="a"),
    layer("fc4", 3, input=["conv2", "conv3"], activation="none", design="c"),
    designs={
        "a": {**FAST, "lanes": 2},
        "b": {**FAST, "lanes": 4},
        "c": {**FAST, "lanes": 4, "block": 2},
    },
)
# pool1 has no kernels: the pooling modules alone run it.
POOLS = network_text(
    "pools",
    (7, 6, 2),
    layer("conv1", 3, kernel=2, design="a"),
    {"name": "pool1", "pool": max_pool(2, 2), "design": "b"},
    layer("conv2", 4, kernel=2, activation="tanh", design="c"),
    layer("fc3", 3, activation="none", design="d"),
    designs={
        "a": {**FAST, "lanes": 2},
        "b": {**FAST, "lanes": 4},
        "c": {**FAST, "lanes": 1},
        "d": {**FAST, "lanes": 2, "block": 3},
    },
)
NETWORKS = {"tanh": TANH, "branches": BRANCHES, "gaps": GAPS, "mixed": MIXED, "pools": POOLS}


@pytest.fixture
def train(tmp_path: Path, terminal: Terminal) -> Callable[..., tuple[bytes, dict]]:
    """Train a network on batches of 4 images; the saved file and the answer are the results."""
    dice = np.random.default_rng(0)
    data = tmp_path / "data.npz"
    np.savez(data, images=dice.standard_normal((8, 7, 6, 2)), labels=dice.integers(0, 3, 8))

    def trained(name: str, *options: object, steps: int = 1) -> tuple[bytes, dict]:
        path = tmp_path / f"{name}.toml"
        path.write_text(NETWORKS[name])
        saved = tmp_path / "saved.npz"
        words = ["train", path, "--data", data, "--batch", 4, "--steps", steps]
        answer = terminal.answer(*words, "--save", saved, *options)
        found = saved.read_bytes()
        saved.unlink()
        return found, answer

    return trained


def check_bytes(answer: dict) -> None:
    """The bytes on the pins are those of the formulas, phase by phase."""
    counted = answer["bytes"]
    assert counted["measured"] == {key: counted[key] for key in counted["measured"]}


@pytest.mark.verilator
@pytest.mark.parametrize("name", few(NETWORKS, "tanh"))
def test_verilator_trains_like_golden(name: str, train: Callable[..., tuple[bytes, dict]]) -> None:
    """The host updates the kernels, so that momentum and weight decay are possible."""
    rule = ("--momentum", 0.9, "--weight-decay", 0.01)
    golden, _ = train(name, *rule, steps=2)
    found, answer = train(name, *rule, "--engine", "verilator", steps=2)
    assert found == golden
    check_bytes(answer)


@pytest.mark.full
@pytest.mark.parametrize("name", NETWORKS)
def test_myhdl_trains_like_golden(name: str, train: Callable[..., tuple[bytes, dict]]) -> None:
    golden, _ = train(name)
    assert train(name, "--engine", "myhdl")[0] == golden
