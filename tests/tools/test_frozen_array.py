"""Frozen layers on the MAC array: the golden's bits, and only the passes that others need."""

from pathlib import Path

import numpy as np
import pytest

from network_text import layer, max_pool, network_text
from terminal import Terminal

STEP = ["fp conv1", "fp conv2", "fp fc3", "ku fc3", "dp fc3", "ku conv2", "dp conv2", "ku conv1"]


def network(*frozen: str) -> str:
    """Three layers on an array that computes the loss; conv2 pools."""
    layers = (
        layer("conv1", 5, kernel=3, pad=1, trainable="conv1" not in frozen, design="array"),
        layer(
            "conv2", 3, kernel=3, pad=1, pool=max_pool(2, 2), trainable="conv2" not in frozen,
            design="array",
        ),
        layer("fc3", 3, relu=False, design="array"),
    )  # fmt: skip
    array = {"architecture": "mac-array", "pox": 4, "poy": 4, "pof": 4, "loss": True}
    return network_text(
        "tiny", (8, 8, 1), *layers, designs={"array": array}, format="fixed16",
        rounding="stochastic",
    )  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("delta_at", ["sums", "pooled"])
def test_frozen_layers_have_only_the_passes_that_others_need(
    delta_at: str, terminal: Terminal, tmp_path: Path
) -> None:
    """conv2 is frozen between trainable layers; its un-pooling precedes its DP."""
    path = tmp_path / "frozen.toml"
    path.write_text(network("conv2"))
    words = ("simulate", path, "--layer", "all", "--phase", "all", "--images", 2)
    found = terminal.answer(*words, "--delta-at", delta_at)
    assert [f"{each['phase']} {each['layer']}" for each in found["runs"]] == [
        step for step in STEP if step != "ku conv2"
    ]
    for each in found["runs"]:
        assert each["bit_exact"]
        assert not each["failures"]
        assert all(len(set(ways.values())) == 1 for ways in each["ports"].values())


@pytest.mark.full
@pytest.mark.parametrize("frozen", ["conv1", "conv2"])
def test_frozen_layers_train_to_the_goldens_bytes(
    frozen: str, terminal: Terminal, tmp_path: Path
) -> None:
    """In passes, and by one list from memory."""
    path, data = tmp_path / "net.toml", tmp_path / "data.npz"
    path.write_text(network(frozen))
    rng = np.random.default_rng(0)
    images, labels = rng.uniform(0, 1, (10, 8, 8, 1)), rng.integers(0, 3, 10)
    np.savez(data, images=images, labels=labels)
    saved = []
    for engine_name in ("golden", "myhdl", "system"):
        file = tmp_path / f"{engine_name}.npz"
        words = ("train", path, "--data", data, "--batch", 2, "--steps", 2, "--loss", "hinge")
        assert terminal.run(*words, "--engine", engine_name, "--save", file).status == 0
        saved.append(file.read_bytes())
    assert saved[0] == saved[1] == saved[2]
