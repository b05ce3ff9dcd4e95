"""Fused layers on a board, from the command line: planned, written as a file, refused."""

from pathlib import Path

import numpy as np
import pytest

from merp.models.network.network_file import read_network
from network_text import layer, max_pool, network_text
from terminal import Terminal

LAYERS = network_text(
    "pair",
    (6, 6, 2),
    layer("conv1", 32, kernel=3, pad=1),
    layer("conv2", 64, kernel=3, pad=1, pool=max_pool(6, 6)),
    layer("fc3", 3, relu=False, design="k1"),
    designs={"k1": {"k": 1, "n_cu": 1, "r": 1}},
    layer_fusion=["conv1", "conv2"],
)
ON_ONE_UNIT = LAYERS.replace("pad = 1\n", 'pad = 1\ndesign = "k3"\n') + (
    "[design.k3]\nk = 3\nn_cu = 1\nr = 1\n"
)

SMALL = """
[board]
name = "small"
part = "xc7a200t"
clock_mhz = 100
usable = { bram = 0.03 }
[memory]
gbytes_s = 1.6
efficiency = 0.8
"""
"""A board for conv2 in two parts, but not whole."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with both networks, the board, and images."""
    (tmp_path / "bare.toml").write_text(LAYERS)
    (tmp_path / "unit.toml").write_text(ON_ONE_UNIT)
    (tmp_path / "small.toml").write_text(SMALL)
    rng = np.random.default_rng(0)
    images = rng.uniform(-1, 1, (5, 6, 6, 2))
    np.savez(tmp_path / "data.npz", images=images, labels=rng.integers(0, 3, 5))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_is_the_network_file_that_the_verbs_take(place: Path, terminal: Terminal) -> None:
    """With the designs that were chosen, and the pair, also where the file fuses none."""
    words = ["--board", "kc705", "--batch", "4"]
    found = terminal.answer("plan", "bare.toml", *words, "-o", "made.toml")
    made = read_network(place / "made.toml")
    assert made.layer_fusion == ("conv1", "conv2")
    assert [layer.design for layer in made.layers] == ["auto3", "auto3", "k1"]
    assert terminal.answer("plan", "made.toml", *words)["layers"] == found["layers"]
    pair = found["layers"][0]
    assert (pair["name"], pair["phase"], pair["design"]) == ("conv1+conv2", "ff", "auto3+auto3")
    assert pair["words"]["between_out"] == 4 * 6 * 6 * 32

    apart = terminal.answer(
        "plan", "made.toml", *words, "--layer-fusion", "none", "-o", "apart.toml"
    )
    assert "fuse" not in apart
    assert read_network(place / "apart.toml").layer_fusion == ()
    best = terminal.answer("plan", "apart.toml", *words, "--layer-fusion", "best")
    assert best["fuse"] == found["fuse"]
    (saved,) = (each["saved_in_step_bytes"] for each in apart["fusable"] if each["best"])
    moved, less = (each["total_all"]["step"]["bytes"] for each in (apart, best))
    assert moved - less == saved


def test_the_tables_say_what_is_fused_and_what_would_be(place: Path, terminal: Terminal) -> None:
    words = ["plan", "unit.toml", "--board", "kc705", "--batch", "2"]
    assert "FF: FP of both in one pass, 1 + 1 CUs." in terminal.prose(*words)
    none = ["--layer-fusion", "none"]
    assert "--layer-fusion best: conv1 and conv2 would save" in terminal.prose(*words, *none)
    said = terminal.prose(*words, *none, "--details")
    assert "conv1 and conv2 fused in forward propagation would fit: 1 + 1 CUs" in said
    assert "--layer-fusion best: conv1 and conv2." in said


def test_on_a_board_without_room_layers_run_one_by_one(place: Path, terminal: Terminal) -> None:
    """Planned and trained so; a simulation of the pair itself is refused before it begins."""
    board = ["--board", "small.toml"]
    reason = "pair: layers conv1 and conv2 cannot be fused: no shares of their 1 and 1 CUs fit"
    found = terminal.answer("plan", "unit.toml", *board, "--batch", "2", "-o", "made.toml")
    assert found["unfused"].startswith(reason)
    forward = [each for each in found["layers"] if each["phase"] == "fp"]
    assert [(each["name"], each["passes"]) for each in forward] == [
        ("conv1", 1), ("conv2", 2), ("fc3", 1),
    ]  # fmt: skip
    assert read_network(place / "made.toml").layer_fusion == ()
    train = ["train", "unit.toml", *board, "--data", "data.npz", "--batch", "2", "--steps", "1"]
    trained = terminal.answer(*train)
    assert trained["not_in_one_pass"] == [found["unfused"]]
    assert {each["phase"] for each in trained["runs"]} == {"fp", "dp", "ku"}
    for asked in ("conv1+conv2", "conv1"):
        words = ["simulate", "unit.toml", *board, "--layer", asked]
        assert reason in terminal.refusal(*words, *(["--phase", "ff"] if asked == "conv1" else []))
