"""Initial kernels and biases of a network, from a seed.

Kernels are He-normal, of standard deviation sqrt(2 / (n*k*k)) (He et al. 2015,
doi:10.1109/ICCV.2015.123, equation 10). Biases are normal of standard deviation 0.01, so that no
datapath is tested with zeros only. Each layer has its own random numbers, from the seed and its
name: a layer's parameters do not depend on the layers around it. A layer that only pools has
kernels of 1, or the reciprocal of the elements of a map that it averages, and biases of 0.

All initial parameters are rounded to their storage format.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from merp.models.arithmetic.compiled import Values
from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.golden.in_memory import pair_in_memory
from merp.models.network.network import Layer, Network

BIAS_DEVIATION = 0.01

_CHUNK = 1 << 20  # kernel words rounded at a time: a large layer would not fit memory as binary64

Parameters = Mapping[str, tuple[Bits, Bits]]


def _drawn(layer: Layer, seed: int) -> Iterator[Values]:
    """Yield the numbers of a layer in parts: its kernels, then its biases."""
    if layer.only_pools:
        averaged = layer.shape.rows * layer.shape.columns if layer.shape.k > 1 else 1
        yield np.full(layer.kernels, 1 / averaged)
        yield np.zeros(layer.biases)
        return
    shape = layer.shape
    generator = np.random.default_rng([seed, *layer.name.encode()])
    deviation = math.sqrt(2.0 / (shape.n * shape.k * shape.k))
    for low in range(0, layer.kernels, _CHUNK):
        yield deviation * generator.standard_normal(min(_CHUNK, layer.kernels - low))
    yield BIAS_DEVIATION * generator.standard_normal(layer.biases)


def initial_numbers(layer: Layer, seed: int) -> tuple[Values, Values]:
    """Return kernels (groups*m, n, k, k) and biases (groups*m,) of one layer, before any
    rounding.
    """
    shape = layer.shape
    *kernels, biases = _drawn(layer, seed)
    return np.concatenate(kernels).reshape(layer.biases, shape.n, shape.k, shape.k), biases


def layer_parameters(layer: Layer, seed: int, fmt: FloatFormat) -> tuple[Bits, Bits]:
    """Return kernels (groups*m, n, k, k) and biases (groups*m,) of one layer, as words."""
    shape = layer.shape
    words = np.empty(layer.kernels + layer.biases, np.uint32)
    low = 0
    for part in _drawn(layer, seed):
        words[low : low + part.size] = to_bits(part, fmt)
        low += part.size
    kernels, biases = np.split(words, [layer.kernels])
    return kernels.reshape(layer.biases, shape.n, shape.k, shape.k), biases


class _Initial(Mapping[str, tuple[Bits, Bits]]):
    """Computes a layer's parameters on first access, because some layers have 10^8 words."""

    def __init__(self, network: Network, seed: int, given: Parameters) -> None:
        self._layers = {layer.name: layer for layer in network.layers}
        self._fmt, self._storage = network.fmt, network.storage
        self._seed = seed
        self._made: dict[str, tuple[Bits, Bits]] = {}
        self._given = (given, network.weights)

    def __getitem__(self, name: str) -> tuple[Bits, Bits]:
        if name not in self._made:
            layer = self._layers[name]
            given = () if layer.only_pools else self._given
            pair = next((these[name] for these in given if name in these), None)
            if pair is None:
                pair = layer_parameters(layer, self._seed, self._fmt)
            self._made[name] = pair_in_memory(pair, "kernels", self._fmt, self._storage)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)


def parameters(network: Network, seed: int, given: Parameters | None = None) -> Parameters:
    """Return kernels and biases by layer name; each layer's are computed on first access.

    They are the parameters of the network's file, or, for layers without any, random numbers from
    the seed. ``given`` overrides the parameters of some layers.
    """
    return _Initial(network, seed, given or {})
