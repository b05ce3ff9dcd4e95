"""``merp train`` of networks whose tensors lie in memory in narrower formats."""

from pathlib import Path

import numpy as np
import pytest

from merp.tools.common.shipped import open_network
from merp.tools.train import checkpoint
from merp.tools.train.data import split
from merp.tools.train.datasets.labelled import labelled
from small_training import NETWORK, SmallTraining
from terminal import Terminal


@pytest.fixture
def train(terminal: Terminal, tmp_path: Path) -> SmallTraining:
    return SmallTraining(terminal, tmp_path)


@pytest.fixture
def folder(train: SmallTraining) -> Path:
    return train.folder


def stored(folder: Path, **formats: str) -> None:
    """Write the network anew, its tensors in memory in these formats."""
    table = ", ".join(f"{tensor} = '{name}'" for tensor, name in formats.items())
    text = NETWORK.replace("input", f"storage = {{ {table} }}\ninput", 1)
    (folder / "small.toml").write_text(text)


NARROW = {
    "maps": "bfloat16", "deltas": "bfloat16", "kernels": "bfloat16", "gradients": "binary16",
}  # fmt: skip


def test_what_is_stored_narrower_is_saved_and_resumed_to_the_same_bits(
    train: SmallTraining, folder
) -> None:
    stored(folder, **NARROW)
    whole, part = folder / "whole.npz", folder / "part.npz"
    both = ("--weight-decay", "0.01")
    train.answer("--steps", "6", *both, "--save", whole)
    train.answer("--steps", "3", *both, "--save", part)
    train.answer("--steps", "6", *both, "--save", part, "--resume", part)
    assert whole.read_bytes() == part.read_bytes()
    with np.load(whole) as file:
        arrays = dict(file)
    for name in ("conv1", "fc2"):
        for kind in ("kernel", "bias"):
            assert not (arrays[f"{name}.{kind}"].view(np.uint32) & 0xFFFF).any()
        velocity = arrays[f"{name}.velocity"]
        assert (velocity == velocity.astype(np.float16)).all()
        assert (velocity.view(np.uint32) & 0xFFFF).any()  # no numbers of bfloat16


@pytest.mark.parametrize(
    ("formats", "complaint"),
    [
        ({}, "saved with another small, other sums, storage or data: allowed are the"),
        (NARROW | {"deltas": "binary16"}, "saved with another small, other sums, storage or data"),
        (NARROW | {"gradients": "bfloat16"}, "allowed are finite numbers of the storage of grad"),
        (NARROW | {"kernels": "binary16"}, "of the storage of kernels"),
    ],
)
def test_training_is_not_resumed_with_other_storage(
    train: SmallTraining, folder: Path, formats, complaint: str
) -> None:
    stored(folder, **NARROW)
    place = folder / "f.npz"
    train.answer("--steps", "3", "--save", place)
    # A number of bfloat16 alone: the seal tells of a change only after all numbers were seen.
    with np.load(place) as file:
        arrays = dict(file)
    if "kernels" in complaint:
        arrays["fc2.bias"] = arrays["fc2.bias"] * 0 + np.float32(2.0**-60)
        np.savez(place, **arrays)
    stored(folder, **formats)
    assert complaint in train.refusal("--resume", place)


def test_the_resolution_of_narrower_deltas_is_part_of_what_is_resumed(folder: Path) -> None:
    network = open_network(str(folder / "small.toml"))
    data = split(labelled(str(folder / "data.npz"), network), network)

    def inputs(**formats: str) -> list[str]:
        if formats:
            stored(folder, **formats)
        network = open_network(str(folder / "small.toml"))
        return [checkpoint.inputs_of(network, data, pooled=pooled) for pooled in (False, True)]

    plain, maps, deltas = inputs(), inputs(maps="bfloat16"), inputs(deltas="bfloat16")
    assert plain[0] == plain[1] != maps[0] == maps[1]
    assert len({plain[0], maps[0], *deltas}) == 4


def test_images_that_overflow_in_memory_are_named(train: SmallTraining, folder: Path) -> None:
    stored(folder, maps="binary16")
    with np.load(folder / "data.npz") as file:
        arrays = dict(file)
    arrays["images"][7, 1, 2, 0] = 65520.0  # rounds to infinity
    np.savez(folder / "data.npz", **arrays)
    text = train.refusal()
    assert "data.npz: images[7, 1, 2, 0] = 65520.0: allowed are finite numbers" in text


def test_images_in_bytes_train_to_the_same_bits(train: SmallTraining, folder: Path) -> None:
    """Where every element is a number that a byte stands for, only the traffic differs."""
    with np.load(folder / "data.npz") as file:
        arrays = dict(file)
    arrays["images"] = np.rint(arrays["images"] * 16) / 16
    np.savez(folder / "data.npz", **arrays)
    found = {}
    for name, formats in {"wide": {"maps": "binary32"}, "bytes": {"image": "uint8"}}.items():
        stored(folder, **formats)
        text = (folder / "small.toml").read_text()
        scaled = text.replace("'uint8'", "'uint8', image_scale = '1/16'")
        (folder / "small.toml").write_text(scaled)
        saved = folder / f"{name}.npz"
        found[name] = train.answer("--steps", "5", "--save", saved)["bytes"]["full"]
        with np.load(saved) as file:
            found[name, "arrays"] = dict(file)
    wide, bytes_ = found["wide", "arrays"], found["bytes", "arrays"]
    for key in set(wide) - {"inputs", "sha256"}:
        assert np.array_equal(wide[key], bytes_[key]), key
    assert wide["inputs"] != bytes_["inputs"]
    once = 3 * 4 * (4 * 5 * 2)  # three bytes of an element, four images
    assert found["wide"]["fp"] - found["bytes"]["fp"] == once
    assert found["wide"]["ku"] - found["bytes"]["ku"] == once
    assert found["wide"]["dp"] == found["bytes"]["dp"]


@pytest.mark.parametrize("number", [-0.25, 1.25])
def test_images_that_no_byte_stands_for_are_named(
    train: SmallTraining, folder: Path, number: float
) -> None:
    stored(folder, image="uint8")
    with np.load(folder / "data.npz") as file:
        arrays = dict(file)
    arrays["images"] = arrays["images"] / 2
    arrays["images"][7, 1, 2, 0] = number
    np.savez(folder / "data.npz", **arrays)
    text = train.refusal()
    assert f"data.npz: images[7, 1, 2, 0] = {number}: allowed are 0 to 1: " in text
    assert "it is stored as uint8 (1/255 * byte + 0)" in text
