"""What F-CNN's machine refuses: one line, status 2, and nothing written."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import merp
from merp.models.base.errors import BadInput
from merp.models.network.network_file import read_network
from merp.models.network.registry import network_asked
from merp.tools.common.shipped import open_network
from network_text import average_pool, layer, max_pool, network_text
from terminal import Terminal

FCNN: dict[str, Any] = {"architecture": "fcnn", "lanes": 2}
DESIGNS = {"a": FCNN, "b": FCNN}
FULL = layer("fc2", 2, activation="none", design="b")


def small(designs: dict[str, Any] | None = None, **keys: Any) -> str:
    """A convolution and a full connection; keys of the convolution, or of the network in caps."""
    settings = {key.lower(): keys.pop(key) for key in list(keys) if key.isupper()}
    conv1 = layer("conv1", 3, **{"kernel": 3, **keys}, design="a")
    return network_text("small", (7, 7, 2), conv1, FULL, designs={**DESIGNS, **(designs or {})},
                        **settings)  # fmt: skip


def pair(**keys: Any) -> str:
    """Two convolutions of one design; the second one has other keys."""
    conv1 = layer("conv1", 3, kernel=3, pad=1, design="a")
    conv2 = layer("conv2", 3, **{"kernel": 3, "pad": 1, **keys}, design="a")
    return network_text("pair", (7, 7, 3), conv1, conv2, designs={"a": FCNN})


KINDS = network_text(
    "kinds", (3, 3, 2), layer("conv1", 3, kernel=3, design="a"), layer("fc2", 3, design="a"),
    designs={"a": FCNN},
)  # fmt: skip
FULL_TWICE = network_text(
    "twice",
    (1, 1, 5),
    layer("fc1", 4, design="a"),
    layer("fc2", 2, input="fc1", design="a"),
    layer("fc3", 2, input="fc1", design="a"),
    layer("fc4", 2, input=["fc2", "fc3"], activation="none", design="b"),
    designs=DESIGNS,
)

FILES = {
    "kernels": (pair(kernel=5, pad=2), "kernel must be equal in all layers of a design"),
    "pooling": (pair(pool=max_pool(2, 2)), "pool must be equal in all layers of a design"),
    "activations": (pair(activation="tanh"), "activation must be equal"),
    "kinds": (KINDS, "must be equal in all layers of a design"),
    "average": (small(pool=average_pool(2, 2)), "kind of pooling must be max, not average"),
    "overlapping windows": (small(pool=max_pool(3, 2)), "stride must be at least the window of 3"),
    "window of 12": (small(pad=2, pool=max_pool(12, 12)), ""),
    "padded pooling": (small(pool=max_pool(2, 2, pad=1)), "pool.pad must be 0"),
    "ceil": (small(pool=max_pool(2, 2, ceil=True)), "pool.pad must be 0"),
    "add": (pair(add="conv1"), "allowed without storage and add"),
    "storage": (small(STORAGE={"maps": "bfloat16"}), "allowed without storage and add"),
    "fixed16": (small(FORMAT="fixed16"), "the network's format asks for one of mac-array"),
    "relu6": (small(activation="relu6"), "machine fcnn has relu, tanh, none"),
    "leaky-relu": (small(activation="leaky-relu"), "machine fcnn has relu, tanh, none"),
    "tanh in binary16": (small(activation="tanh", FORMAT="binary16"), "tanh needs format"),
    "combined": (small(BACKWARD="combined"), "allowed here is 'cnn-merp'"),
    "fused": (small(LAYER_FUSION=["conv1", "fc2"]), "allowed here is 'cnn-merp'"),
    "maps_at_once": (small({"b": {**FCNN, "maps_at_once": 2}}), "must be absent, it is of conv"),
    "block": (small({"a": {**FCNN, "block": 4}}), "must be absent, it is of full connections"),
    "blocks": (small({"a": {**FCNN, "blocks": 4}}), "must be absent, it is of full connections"),
    "kernel of 12": (small(pad=3, kernel=12), "kernel must be at most 11 on this machine, not 12"),
    "stride of 17": (small(stride=17), "max_stride must be a whole number from 1 to 16"),
    "unknown key": (small({"a": {**FCNN, "n_cu": 4}}), "unknown key 'n_cu': allowed are arch"),
    "lanes of 33": (small({"a": {**FCNN, "lanes": 33}}), "must be a whole number from 1 to 32"),
    "lanes of 2.5": (small({"a": {**FCNN, "lanes": 2.5}}), "must be a whole number from 1 to 32"),
    "max_images": (small({"a": {**FCNN, "max_images": 5}}), "must be a multiple of lanes = 2"),
    "latency": (small({"a": {**FCNN, "add_latency": 9}}), "must be a whole number from 1 to 5"),
    "full connection": (FULL_TWICE, "allowed is a full connection as the last one"),
}
DIVIDES = "3 images: allowed are multiples of 2 (lanes) up to 128 (max_images)"
EXPORT = ("export", "--layer", "conv1", "-o", "out")
COMMANDS = [
    (("simulate", "--images", 3), DIVIDES),
    (("simulate", "--images", 3, "--layer", "all", "--phase", "all", "-o", "out"), DIVIDES),
    (("simulate",), "1 images: allowed are multiples of 2"),
    (("simulate", "--images", 130), "130 images: allowed are multiples of 2"),
    (("train", "--batch", 3, "--save", "out"), DIVIDES),
    (("train", "--batch", 3, "--engine", "verilator", "--save", "out"), DIVIDES),
    (("traffic", "--batch", 3), DIVIDES),
    (("traffic", "--batch", 130), "130 images"),
    (("traffic", "--batch", 4, "--count", "board"), "allowed are maps, all"),
    (("traffic", "--batch", 4, "--board", "vc709"), "allowed are maps, all"),
    ((*EXPORT, "--images", 3), DIVIDES),
    ((*EXPORT, "--images", 130), "130 images"),
    (("export", "--all", "-o", "out", "--images", 3), DIVIDES),
    ((*EXPORT, "--images", 2, "--phase", "dp"), "is the first layer, its input has no delta"),
    (("registers", "--layer", "conv1", "--images", 3), DIVIDES),
    (("report", "--batch", 3, "-o", "out.html"), DIVIDES),
    (("plan", "--board", "vc709", "--batch", 3), DIVIDES),
    (("simulate", "--images", 4, "--state"), "--state: small runs on fcnn: omit it"),
    (("simulate", "--images", 4, "--delta-at", "pooled"), "--delta-at: small runs on fcnn"),
    (("simulate", "--images", 4, "--cus", 2), "--cus 2: small runs on fcnn: omit it"),
    (("simulate", "--images", 4, "--board", "vc709"), "--board: small runs on fcnn"),
    (("simulate", "--images", 4, "--layer", "all", "--rows", 3), "allowed with one layer"),
    (("simulate", "--images", 4, "--phase", "pool", "--layer", "fc2"), "has no pooling and no act"),
    (("simulate", "--images", 4, "--phase", "bp"), "allowed: fp, pool, unpool, dp, ku, all"),
    (("simulate", "--images", 4, "--phase", "ff"), "allowed: fp, pool, unpool, dp, ku, all"),
    (("simulate", "--images", 4, "--layer", "conv1+fc2"), "allowed is a layer, or all"),
    (("simulate", "--images", 4, "--schedule"), "allowed on mac-array"),
    (("train", "--batch", 4, "--board", "vc709"), "--board: small runs on fcnn: omit it"),
    (("train", "--batch", 4, "--architecture", "chain"), "small runs on fcnn: omit it"),
    (("layout",), "allowed are networks on cnn-merp or mac-array"),
    (("system", "-o", "out"), "allowed are networks on cnn-merp or mac-array"),
    (("resources", "--layer", "fc2", "--phase", "unpool"), "has no pooling and no activation"),
    (("resources", "--layer", "conv1", "--phase", "bp"), "small runs on fcnn"),
]  # fmt: skip
OTHERS = [
    (("simulate", "resnet-digits"), "machine fcnn has no add"),
    (("train", "resnet-digits", "--steps", 1), "machine fcnn has no add"),
    (("simulate", "alexnet"), "pool.stride must be at least the window of 3, not 2"),
    (("export", "alexnet", "--layer", "conv1", "-o", "out"), "stride must be at least the window"),
    (("simulate", "digits-fixed"), "machine fcnn has float formats without storage"),
    (("simulate", "digits", "--layer", "all", "--rows", 3), "allowed with one layer"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one; the network and images are beside it."""
    (tmp_path / "small.toml").write_text(small())
    dice = np.random.default_rng(0)
    images, labels = dice.standard_normal((90, 7, 7, 2)), dice.integers(0, 2, 90)
    np.savez(tmp_path / "data.npz", images=images, labels=labels)
    found = tmp_path / "empty"
    found.mkdir()
    monkeypatch.chdir(found)
    return found


@pytest.mark.parametrize("name", FILES)
def test_network_files(name: str, folder: Path, terminal: Terminal) -> None:
    text, said = FILES[name]
    (folder.parent / "bad.toml").write_text(text)
    refusal = terminal.refusal("simulate", "../bad.toml", "--images", 4, "-o", "out")
    assert said in refusal
    assert not list(folder.iterdir())


@pytest.mark.parametrize(("words", "said"), COMMANDS)
def test_commands(words: tuple[Any, ...], said: str, folder: Path, terminal: Terminal) -> None:
    verb, *options = words
    if verb == "train":
        options += ["--data", "../data.npz", "--steps", 1]
    assert said in terminal.refusal(verb, "../small.toml", *options)
    assert not list(folder.iterdir())


@pytest.mark.parametrize(("words", "said"), OTHERS)
def test_networks_of_other_machines(
    words: tuple[Any, ...], said: str, folder: Path, terminal: Terminal
) -> None:
    assert said in terminal.refusal(*words, "--architecture", "fcnn")
    assert not list(folder.iterdir())


def test_library(folder: Path) -> None:
    conv1 = merp.load(folder.parent / "small.toml")["conv1"]
    for images in (3, 130):
        with pytest.raises(BadInput, match=f"small: conv1: {images} images: allowed are multiples"):
            conv1.run(images=images)
    with pytest.raises(BadInput, match="state: small: phase pool writes it: omit it"):
        conv1.run(images=2, state=True)


def test_a_network_on_fcnn_keeps_its_own_designs(folder: Path) -> None:
    network = read_network(folder.parent / "small.toml")
    assert network_asked(network, "fcnn", 6) is network
    other = network_asked(open_network("digits"), "fcnn", 6)
    assert {design.lanes for design in other.designs.values()} == {3}
