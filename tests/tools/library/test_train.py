"""Training from Python: the bits of the command line, arguments checked at the border."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import merp
from merp.tools.train.checkpoint import resume
from network_text import layer, network_text
from terminal import Terminal

NETWORK = network_text(
    "tiny",
    (3, 3, 1),
    layer("conv1", 2, kernel=2, design="k2"),
    layer("fc2", 3, relu=False),
    designs={"k2": {"k": 2, "n_cu": 2}},
)
RANDOM = np.random.default_rng(1)
IMAGES = RANDOM.standard_normal((20, 3, 3)).astype(np.float32)
LABELS = np.arange(20) % 3
SHORT = {"batch": np.int64(4), "steps": 6}


@pytest.fixture(scope="module")
def net(network_file: Path) -> merp.Network:
    return merp.load(network_file)


@pytest.fixture(scope="module")
def trained(net: merp.Network) -> merp.Training:
    return net.train((IMAGES, LABELS), **SHORT)


def test_arrays_train_as_their_file_does_on_the_command_line(
    trained: merp.Training, network_file: Path, tmp_path: Path, terminal: Terminal
) -> None:
    np.savez(tmp_path / "data.npz", images=IMAGES, labels=LABELS)
    words = ("--data", tmp_path / "data.npz", "--batch", 4, "--steps", 6)
    saved = tmp_path / "model.npz"
    answer = terminal.answer("train", *(network_file, *words, "--save", saved))
    assert trained.json() == answer
    assert trained.losses.tolist() == answer["loss"]
    assert (trained.steps, trained.accuracy) == (6, answer["accuracy"])
    kept = resume(saved, merp.load(network_file).description)
    for name, pair in kept.model.parameters.items():
        for mine, other in zip(trained.words[name], pair, strict=True):
            np.testing.assert_array_equal(mine, other)


def test_it_says_what_it_wrote_and_goes_on_from_there(
    net: merp.Network, trained: merp.Training, tmp_path: Path
) -> None:
    saved, folder = tmp_path / "model.npz", tmp_path / "run"
    said: list[str] = []
    first = net.train(
        (IMAGES, LABELS), batch=4, steps=3, save=saved, output=str(folder), progress=said.append
    )
    names = "train.json", "history.json", "loss.png"
    assert set(first.paths) == {saved, *(folder / name for name in names)}
    assert all(path.is_file() for path in first.paths)
    assert said[0].startswith("step 1 of 3, loss ")
    second = net.train((IMAGES, LABELS), steps=6, resume=saved)
    assert second.json() == trained.json()
    assert second.paths == ()


def test_numbers_and_tables_are_there_to_work_with(trained: merp.Training) -> None:
    kernels, biases = trained.arrays["conv1"]
    assert (kernels.shape, biases.shape, kernels.dtype) == ((2, 1, 2, 2), (2,), np.float64)
    answer = trained.json()
    assert [row["phase"] for row in trained.traffic] == ["fp", "dp", "ku", "step"]
    assert trained.traffic[3]["full"] == answer["bytes"]["full"]["step"]
    assert trained.traffic[3]["measured"] is trained.traffic[3]["cycles"] is None
    shown = trained._repr_html_()
    assert 'src="data:image/png;base64,iVBORw0KGgo' in shown
    assert repr(trained).startswith("<tiny on golden: 6 steps of 4 images, loss ")


def test_nothing_is_printed(
    net: merp.Network, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    net.train((IMAGES, LABELS), **SHORT, save=tmp_path / "model.npz")
    assert capfd.readouterr() == ("", "")


@cache
def bad() -> dict[str, dict[str, object]]:
    data = IMAGES, LABELS
    return {
        "engine = 'vcs': allowed are golden, myhdl, verilator, ghdl, system": {"engine": "vcs"},
        "loss = 'absolute': allowed are cross-entropy, squared, hinge": {"loss": "absolute"},
        "batch = 0: must be a whole number from 1 to 65536": {"batch": 0},
        "batch = 17: allowed are 1 to 16, the images to train with": {"batch": 17},
        "steps = 1.5: must be a whole number from 1 to 2147483648": {"steps": 1.5},
        "epochs = 1: allowed without steps": {"steps": 1, "epochs": 1},
        "seed = -1: must be a whole number from 0 to 4294967295": {"seed": -1},
        "learning_rate = 0: must be a number above 0": {"learning_rate": 0},
        "learning_rate = 1e-60: over a batch of 32 the format has no such rate": {
            "learning_rate": 1e-60, "data": (np.tile(IMAGES, (3, 1, 1)), np.tile(LABELS, 3)),
        },
        "momentum = 1: must be a number from 0 to below 1": {"momentum": 1},
        "weight_decay = -0.1: must be a number of 0 or more": {"weight_decay": -0.1},
        "weight_decay = inf: must be a number of 0 or more": {"weight_decay": float("inf")},
        "momentum = 'much': must be a number from 0 to below 1": {"momentum": "much"},
        "state_bits = 'none': allowed are 32, 1, pooled": {"state_bits": "none"},
        "state_bits = '1': engine myhdl runs the hardware: allowed: pooled": {
            "engine": "myhdl", "state_bits": "1",
        },
        "state_bits = '1': board runs the hardware: allowed: pooled": {
            "board": "kc705", "state_bits": "1",
        },
        "no board 'mine': allowed are arty-a7-100, kc705, nexys-video, paper, pynq-z2, ultra96, "
        "vc707, vc709, zc706, zc7100, zcu102, zcu104, or a .toml file": {
            "board": "mine",
        },
        "board = 7: allowed is a path": {"board": 7},
        "goal = 'space': allowed are bytes, time": {"board": "kc705", "goal": "space"},
        "goal = 'time': allowed with board": {"goal": "time"},
        "apart: allowed with board": {"apart": True},
        "save = 1: allowed is a path": {"save": 1},
        "resume = b'f': allowed is a path": {"resume": b"f"},
        "output = 2.0: allowed is a path": {"output": 2.0},
        "progress = 'yes': allowed is a function of a text": {"progress": "yes"},
        "data = 5: allowed is a path": {"data": 5},
        "data = [1, 2]: allowed is (images, labels), 'digits', or a path": {"data": [1, 2]},
        "data: images: no array of numbers": {"data": ([[1], [2, 3]], LABELS)},
        "data: images: type <U1: allowed are numbers": {"data": ("x", LABELS)},
        "data: labels: type object: allowed are numbers": {"data": (IMAGES, None)},
        "batch = array([1, 2]): must be a whole number from 1 to 65536": {
            "batch": np.array([1, 2]),
        },
        "data: images: size (3,): tiny takes (3, 3, 1)": {
            "data": (IMAGES[..., 0], LABELS),
        },
        "data: labels: size (19,): allowed is (20,), one per image": {
            "data": (IMAGES, LABELS[1:]),
        },
        "data: labels[0] = -1: tiny has 3 outputs: allowed are 0 to 2": {
            "data": (IMAGES, LABELS - 1),
        },
        "on = '/dev/uio0': allowed is a board, such as merp.SimulatedDevice()": {"on": "/dev/uio0"},
        "engine = 'golden': with on: allowed is 'system'": {
            "on": merp.UioDevice(), "engine": "golden",
        },
        "board = 'kc705': with on: omit one of them": {"on": merp.UioDevice(), "board": "kc705"},
        "architecture = 'pipeline': with on: omit one of them": {
            "on": merp.UioDevice(), "architecture": "pipeline",
        },
        "save /dev/null/f.npz: null is no folder": {"data": data, "save": "/dev/null/f.npz"},
    }  # fmt: skip


@pytest.mark.parametrize("complaint", bad())
def test_a_wrong_argument_is_one_line(net: merp.Network, complaint: str) -> None:
    arguments = {"data": (IMAGES, LABELS)} | bad()[complaint]
    with pytest.raises(merp.BadInput) as told:
        net.train(**arguments)  # type: ignore[arg-type]
    assert str(told.value) == complaint


def test_a_loss_that_runs_away_is_told_as_an_argument(net: merp.Network) -> None:
    with pytest.raises(merp.BadInput, match=r"^learning_rate = 1e\+30: the loss is .* at step "):
        net.train((IMAGES, LABELS), batch=4, steps=6, learning_rate=1e30, loss="squared")


def test_a_network_that_the_hardware_cannot_train_is_told(net: merp.Network) -> None:
    with pytest.raises(merp.BadInput, match="layer fc2 has no design"):
        net.train((IMAGES, LABELS), engine="myhdl", batch=1, steps=1)
