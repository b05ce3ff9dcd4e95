"""LeNet-5 as F-CNN prints it, with tanh and softmax, on its modules: three steps of 8 digits."""

import json
from pathlib import Path

import numpy as np
import pytest
from module_cycles import check_all_runs
from sklearn.datasets import load_digits

from merp.models.network.network import Network
from merp.tools.common.shipped import open_network
from terminal import Terminal

pytestmark = pytest.mark.full

NAME, BATCH, STEPS = "lenet5-tanh", 8, 3
# fp and ku of four layers, dp of three, pooling and un-pooling of the three with an activation
MODULES = 2 * 4 + 3 + 2 * 3


@pytest.fixture(scope="module")
def network() -> Network:
    return open_network(NAME)


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Digits of 8 x 8, enlarged to 24 x 24 with a border of 2, as the layer takes 28 x 28."""
    found = load_digits()
    images = np.kron(found.images[:24] / 16, np.ones((3, 3)))
    path = tmp_path_factory.mktemp("digits") / "digits28.npz"
    images = np.pad(images, ((0, 0), (2, 2), (2, 2)))[..., None]
    np.savez(path, images=images, labels=found.target[:24])
    return path


def test_network_is_the_printed_one(network: Network) -> None:
    assert [layer.shape.activation for layer in network.layers] == ["tanh"] * 3 + ["none"]
    designs = [network.designs[layer.design] for layer in network.layers if layer.design]
    assert {each.lanes for each in designs} == {4}
    assert designs[0].maps_at_once == designs[1].maps_at_once == 3


@pytest.mark.verilator
def test_three_steps_in_verilator(digits: Path, tmp_path: Path, terminal: Terminal) -> None:
    """The saved file is golden's byte for byte; the bytes on the pins are those of the formulas."""
    words = ["train", NAME, "--data", digits, "--batch", BATCH, "--steps", STEPS]
    words += ["--loss", "cross-entropy", "--json"]
    golden, found = tmp_path / "golden.npz", tmp_path / "found.npz"
    assert terminal.run(*words, "--save", golden).status == 0
    ended = terminal.run(*words, "--save", found, "--engine", "verilator")
    assert ended.status == 0, ended.err
    assert found.read_bytes() == golden.read_bytes()
    moved = json.loads(ended.out)["bytes"]
    assert moved["measured"] == {key: moved[key] for key in ("paper", "full")}
    assert moved["paper"]["step"] > 0


@pytest.mark.verilator
def test_cycles_of_every_module(network: Network, terminal: Terminal) -> None:
    words = ["simulate", NAME, "--layer", "all", "--phase", "all", "--images", BATCH]
    ended = terminal.run(*words, "--engine", "verilator", "--json")
    assert ended.status == 0, ended.err
    answer = json.loads(ended.out)
    assert len(answer["runs"]) == MODULES
    check_all_runs(network, answer)
