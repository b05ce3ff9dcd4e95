"""Kernels and biases of a file: an ``.npz`` with ``<layer>.kernel`` and ``<layer>.bias``.

The file is a user's own, or was written by ``merp import`` or ``merp train``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput, shown
from merp.models.base.file_format import PARAMETERS, check_format
from merp.models.base.given import name_of
from merp.models.golden.in_memory import in_memory
from merp.models.golden.initial import Parameters, parameters
from merp.models.network.network import Layer, Network
from merp.tools.common.given_numbers import refuse_first
from merp.tools.common.given_words import given_words
from merp.tools.common.npz import read_npz
from merp.tools.common.seal import SEAL, is_whole

SUFFIXES = (".kernel", ".bias")


def read_kernels(path: Path, network: Network, initial: Parameters) -> Parameters:
    """Return the kernels and biases of ``path``; a missing layer keeps its initial ones.

    Raises:
        BadInput: as for ``kernel_words``.
    """
    return _Overlay(kernel_words(path, network), initial)


def with_weights(network: Network, path: Path, seed: int = 0) -> Network:
    """Return the network with the kernels and biases of ``path``.

    A layer that is not in the file keeps its own, or gets random ones from the seed.

    Raises:
        BadInput: as for ``kernel_words``.
    """
    begun = read_kernels(path, network, parameters(network, seed))
    return replace(network, weights=begun)


def kernel_words(path: Path, network: Network) -> dict[str, Bits]:
    """Return the words of each array of ``path``, by its key.

    Arrays hold numbers, or ``uint32`` words of the format.

    Raises:
        BadInput: as for ``kernel_arrays``, or an array has another type or a NaN.
    """
    arrays = kernel_arrays(path, network)
    return {key: _words(f"{path}: {key}", array, network) for key, array in arrays.items()}


def kernel_arrays(path: Path, network: Network) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of ``path`` by key: kernels (groups*m, n, k, k), biases (groups*m,).

    Other keys are ignored if merp saved the file.

    Raises:
        BadInput: an unreadable file, an unknown key, a wrong size, or a file that merp saved and
            that was changed later.
    """
    arrays = read_npz(path)
    check_format(path, arrays, PARAMETERS)
    if SEAL in arrays:
        if not is_whole(arrays):
            raise BadInput(f"{path}: not as merp saved it, {SEAL} differs")
        arrays = {key: each for key, each in arrays.items() if key.endswith(SUFFIXES)}
    shapes: dict[str, tuple[int, ...]] = {}
    for layer in network.layers:
        shape = layer.shape
        shapes[f"{layer.name}.kernel"] = (layer.biases, shape.n, shape.k, shape.k)
        shapes[f"{layer.name}.bias"] = (layer.biases,)
    for key, array in arrays.items():
        if key not in shapes:
            raise BadInput(f"{path}: unknown key {shown(key)}: allowed are {', '.join(shapes)}")
        if array.shape != shapes[key]:
            raise BadInput(f"{path}: {key}: size {array.shape}: allowed is {shapes[key]}")
    return arrays


def weighted(network: Network) -> list[Layer]:
    """Return the layers with kernels of their own; others only pool."""
    return [layer for layer in network.layers if not layer.only_pools]


def every_pair(
    path: Path | None, words: Mapping[str, Any], network: Network
) -> dict[str, tuple[Any, Any]]:
    """Return the kernels and biases of every layer: the ``words`` of ``path``, else its own.

    Raises:
        BadInput: a layer has neither.
    """
    for layer in weighted(network):
        keys = [f"{layer.name}{suffix}" for suffix in SUFFIXES]
        missing = [key for key in keys if key not in words]
        if missing and layer.name not in network.weights:
            allowed = "allowed is a file of merp train --save or merp import --weights"
            if path is None:
                raise BadInput(f"{name_of('weights')}: {network.name} has no weights: {allowed}")
            raise BadInput(f"{path}: {missing[0]} is missing: {allowed}")
    pairs = _Overlay(words, network.weights)
    return {layer.name: pairs[layer.name] for layer in weighted(network)}


def read_pairs(path: Path, network: Network) -> dict[str, tuple[Bits, Bits]]:
    """Return the kernels and biases of the layers in ``path``.

    If the file has only one of the two for a layer, the other is the network's own.

    Raises:
        BadInput: as for ``kernel_words``, or one of the two is in neither place.
    """
    words = kernel_words(path, network)
    pairs = _Overlay(words, network.weights)
    found = {}
    for layer in weighted(network):
        missing = [suffix for suffix in SUFFIXES if f"{layer.name}{suffix}" not in words]
        if missing and layer.name not in network.weights and len(missing) < len(SUFFIXES):
            raise BadInput(f"{path}: {layer.name}{missing[0]} is missing, in the model, too")
        if len(missing) < len(SUFFIXES):
            found[layer.name] = pairs[layer.name]
    if not found:
        raise BadInput(f"{path}: no kernels and biases: allowed are those of {network.name}")
    return found


class _Overlay(Mapping[str, tuple[Bits, Bits]]):
    """The file's words, with initial ones for missing keys. Those are created only if needed."""

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


def _words(where: str, array: NDArray[np.generic], network: Network) -> Bits:
    if array.dtype.kind != "f":
        words = given_words(where, array, network.fmt)
    else:  # training may have produced infinities
        refuse_first(where, array, np.isnan(array), "numbers")
        words = to_bits(array.astype(np.float64), network.fmt)
    return in_memory(words, "kernels", network.fmt, network.storage)
