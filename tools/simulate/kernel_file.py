"""A user's kernels and biases: an ``.npz`` with ``<layer>.kernel`` and ``<layer>.bias``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from merp.models.arithmetic.words import to_bits
from merp.models.errors import BadInput, shown
from merp.models.golden.initial import Parameters
from merp.models.network.network import Network
from merp.models.params.bits import Bits
from merp.tools.common.npz import read_npz


def read_kernels(path: Path, network: Network, initial: Parameters) -> Parameters:
    """Kernels and biases of ``path``; a layer that it leaves out keeps its initial ones.

    Kernels are (groups*m, n, k, k), biases (groups*m,), of a floating-point type.

    Raises:
        BadInput: unreadable file, unknown key, wrong size or type, or a NaN.
    """
    arrays = read_npz(path)
    shapes: dict[str, tuple[int, ...]] = {}
    for layer in network.layers:
        shape = layer.shape
        shapes[f"{layer.name}.kernel"] = (layer.biases, shape.n, shape.k, shape.k)
        shapes[f"{layer.name}.bias"] = (layer.biases,)
    words = {key: _words(path, key, array, shapes, network) for key, array in arrays.items()}
    return _Overlay(words, initial)


class _Overlay(Mapping[str, tuple[Bits, Bits]]):
    """The file's words where it has them; initial ones are only made where they are needed."""

    def __init__(self, words: Mapping[str, Bits], initial: Parameters) -> None:
        self._words = words
        self._initial = initial

    def __getitem__(self, name: str) -> tuple[Bits, Bits]:
        kernel, bias = (self._words.get(f"{name}.{suffix}") for suffix in ("kernel", "bias"))
        if kernel is None or bias is None:
            own = self._initial[name]
            kernel, bias = own[0] if kernel is None else kernel, own[1] if bias is None else bias
        return kernel, bias

    def __iter__(self) -> Iterator[str]:
        return iter(self._initial)

    def __len__(self) -> int:
        return len(self._initial)


def _words(
    path: Path,
    key: str,
    array: np.ndarray,
    shapes: dict[str, tuple[int, ...]],
    network: Network,
) -> Bits:
    if key not in shapes:
        raise BadInput(f"{path}: unknown key {shown(key)}: allowed are {', '.join(shapes)}")
    if array.dtype.kind != "f":
        raise BadInput(f"{path}: {key}: type {array.dtype}: allowed are floating-point types")
    if array.shape != shapes[key]:
        raise BadInput(f"{path}: {key}: size {array.shape}: allowed is {shapes[key]}")
    if np.isnan(array).any():
        place = tuple(int(i) for i in np.argwhere(np.isnan(array))[0])
        raise BadInput(f"{path}: {key}: NaN at {place}: allowed are numbers")
    return to_bits(array.astype(np.float64), network.fmt)
