"""Training in binary64, written from the definitions: an oracle that shares nothing with models.

Forward propagation from the definition of correlation, derivatives by scattering each output's
share back over its window, and central differences that need no derivative at all. Slow; arrays
are binary64, maps (images, rows, columns, maps), kernels (groups*m, n, k, k).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.base.shape import Pool, Shape
from merp.models.network.network import Layer, Network

Array = NDArray[np.float64]
Parameters = Mapping[str, tuple[Array, Array]]


class Back(NamedTuple):
    """Derivatives of a convolution: of its input, kernels and biases."""

    x: Array
    kernels: Array
    bias: Array


def _positions(shape: Shape) -> Iterable[tuple[int, int, slice, slice]]:
    """Output row and column, and the rows and columns of the padded input under the window."""
    for row, column in np.ndindex(shape.out_rows, shape.out_columns):
        top, left = row * shape.stride, column * shape.stride
        yield row, column, slice(top, top + shape.k), slice(left, left + shape.k)


def _around(shape: Shape) -> tuple[int, int, int, int]:
    """Zeros on top, left, bottom and right."""
    pad = shape.pad
    return (pad, pad, pad, pad) if isinstance(pad, int) else pad


def _padded(x: Array, shape: Shape) -> Array:
    top, left, bottom, right = _around(shape)
    return np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))


def convolve(x: Array, kernels: Array, bias: Array, shape: Shape) -> Array:
    """Convolve one group: (images, out_rows, out_columns, m)."""
    padded = _padded(x, shape)
    y = np.empty((len(x), shape.out_rows, shape.out_columns, shape.m))
    for row, column, rows, columns in _positions(shape):
        y[:, row, column] = np.einsum("brci,mirc->bm", padded[:, rows, columns], kernels) + bias
    return y


def convolve_back(x: Array, kernels: Array, delta: Array, shape: Shape) -> Back:
    """Scatter the delta (images, out_rows, out_columns, m) of one group's sums."""
    padded = _padded(x, shape)
    dx, dk = np.zeros_like(padded), np.zeros_like(kernels)
    for row, column, rows, columns in _positions(shape):
        share = delta[:, row, column]
        dx[:, rows, columns] += np.einsum("bm,mirc->brci", share, kernels)
        dk += np.einsum("bm,brci->mirc", share, padded[:, rows, columns])
    top, left, _, _ = _around(shape)
    inside = dx[:, top : top + shape.rows, left : left + shape.columns]
    return Back(inside, dk, delta.sum(axis=(0, 1, 2)))


def _pooled(pool: Pool, size: tuple[int, ...]) -> Iterable[tuple[tuple[int, ...], slice, slice]]:
    """Index of each pooled element, and the rows and columns of the map in its window."""
    images, rows, columns, maps = size
    for index in np.ndindex(images, pool.rows(rows), pool.columns(columns), maps):
        top, left = index[1] * pool.stride - pool.top, index[2] * pool.stride - pool.left
        yield index, _inside(top, top + pool.window), _inside(left, left + pool.window)


def _inside(begin: int, end: int) -> slice:
    return slice(max(0, begin), end)


def pool_maps(y: Array, pool: Pool) -> Array:
    """Pool maps."""
    result = np.empty((len(y), pool.rows(y.shape[1]), pool.columns(y.shape[2]), y.shape[3]))
    for index, rows, columns in _pooled(pool, y.shape):
        window = y[index[0], rows, columns, index[3]]
        result[index] = window.max() if pool.kind == "max" else window.sum() / pool.window**2
    return result


def pool_back(y: Array, delta: Array, pool: Pool) -> Array:
    """Scatter a pooled delta: all of it to the first maximum, or the same share to each element."""
    result = np.zeros_like(y)
    for index, rows, columns in _pooled(pool, y.shape):
        window = y[index[0], rows, columns, index[3]]
        if pool.kind == "max":
            share = np.zeros(window.size)
            share[np.flatnonzero(window.reshape(-1) == window.max())[0]] = 1
        else:
            share = np.full(window.size, 1 / pool.window**2)
        result[index[0], rows, columns, index[3]] += delta[index] * share.reshape(window.shape)
    return result


def activated(sums: Array, shape: Shape, slope: float) -> Array:
    """Sums after ReLU, or after leaky ReLU if the slope is not 0."""
    return np.where(sums > 0, sums, slope * sums) if shape.relu else sums


def slope_of(network: Network, shape: Shape) -> float:
    """The number that a shape's word of the slope is; 0 without leaky ReLU."""
    fmt, word = network.fmt, shape.slope
    exponent, fraction = word >> fmt.frac_bits, word & (1 << fmt.frac_bits) - 1
    number = (1 + fraction / 2.0**fmt.frac_bits) * 2.0 ** (exponent - fmt.bias)
    return number if word else 0.0


def relu_pool_back(sums: Array, delta: Array, shape: Shape, slope: float = 0.0) -> Array:
    """Delta of the sums from that of a layer's output."""
    if shape.tanh:
        maxima = pool_maps(sums, shape.pool) if shape.pool else sums
        delta = delta / np.cosh(maxima) ** 2
    if shape.pool:
        delta = pool_back(activated(sums, shape, slope), delta, shape.pool)
    return delta * np.where(sums > 0, 1, slope) if shape.relu else delta


def _groups(layer: Layer) -> Iterable[tuple[slice, slice]]:
    """Input maps and output maps of each group."""
    n, m = layer.shape.n, layer.shape.m
    for group in range(layer.groups):
        yield slice(group * n, group * n + n), slice(group * m, group * m + m)


def _layer_sums(layer: Layer, x: Array, kernels: Array, bias: Array) -> Array:
    parts = [
        convolve(x[..., inputs], kernels[outputs], bias[outputs], layer.shape)
        for inputs, outputs in _groups(layer)
    ]
    return np.concatenate(parts, axis=-1)


class Ahead(NamedTuple):
    """Input of a layer, its sums with what it adds to them, and its output."""

    x: Array
    sums: Array
    y: Array


def _names(layer: Layer) -> tuple[str, ...]:
    """The layers whose outputs a layer takes together; none for the one in front."""
    if layer.input is None:
        return ()
    return (layer.input,) if isinstance(layer.input, str) else layer.input


def forward(network: Network, images: Array, made: Parameters) -> tuple[list[Ahead], Array]:
    """What every layer takes and makes, and the scores (images, classes)."""
    found: dict[str, Ahead] = {}
    maps = images
    for layer in network.layers:
        shape = layer.shape
        fronts = [found[name].y for name in _names(layer)]
        x = np.concatenate(fronts, axis=-1) if fronts else maps
        x = x.reshape(len(images), shape.rows, shape.columns, -1)
        sums = _layer_sums(layer, x, *made[layer.name])
        if layer.add:
            sums = sums + found[layer.add].y.reshape(sums.shape)
        maps = activated(sums, shape, slope_of(network, shape))
        maps = pool_maps(maps, shape.pool) if shape.pool else maps
        maps = np.tanh(maps) if shape.tanh else maps
        found[layer.name] = Ahead(x, sums, maps)
    return list(found.values()), maps.reshape(len(images), -1)


def loss(kind: str, scores: Array, labels: NDArray[np.int64]) -> float:
    """Sum over the batch of softmax cross-entropy, half the squared distance, or squared hinge."""
    wanted = np.eye(scores.shape[1])[labels]
    if kind == "squared":
        return float(((scores - wanted) ** 2).sum() / 2)
    if kind == "hinge":
        return float((np.maximum(0, 1 - (2 * wanted - 1) * scores) ** 2).sum())
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return float(-np.log((probabilities * wanted).sum(axis=1)).sum())


def backward(
    network: Network, ahead: list[Ahead], delta: Array, made: Parameters
) -> dict[str, Back]:
    """Derivatives of every layer from the delta of the scores (images, classes)."""
    result = {}
    deltas = {
        layer.name: np.zeros_like(each.y) for layer, each in zip(network.layers, ahead, strict=True)
    }
    deltas[network.layers[-1].name] += delta.reshape(ahead[-1].y.shape)
    for index, layer in reversed(list(enumerate(network.layers))):
        shape, (x, sums, _) = layer.shape, ahead[index]
        kernels, _ = made[layer.name]
        sums_delta = relu_pool_back(sums, deltas[layer.name], shape, slope_of(network, shape))
        if layer.add:
            deltas[layer.add] += sums_delta.reshape(deltas[layer.add].shape)
        parts = [
            convolve_back(x[..., inputs], kernels[outputs], sums_delta[..., outputs], shape)
            for inputs, outputs in _groups(layer)
        ]
        result[layer.name] = Back(
            np.concatenate([part.x for part in parts], axis=-1),
            np.concatenate([part.kernels for part in parts]),
            np.concatenate([part.bias for part in parts]),
        )
        fronts = _names(layer) or [each.name for each in network.layers[:index][-1:]]
        if fronts:
            ends = np.cumsum([deltas[front].shape[-1] for front in fronts])
            rows, columns = deltas[fronts[0]].shape[1:3]
            x = result[layer.name].x.reshape(len(delta), rows, columns, ends[-1])
            for front, share in zip(fronts, np.split(x, ends[:-1], axis=-1), strict=True):
                deltas[front] += share
    return result


def central_differences(function: Callable[[], float], array: Array, step: float) -> Array:
    """Derivative of ``function`` by each element of ``array``, which it reads, one by one."""
    result = np.empty_like(array)
    for index in np.ndindex(*array.shape):
        kept = array[index]
        array[index] = kept + step
        above = function()
        array[index] = kept - step
        below = function()
        array[index] = kept
        result[index] = (above - below) / (2 * step)
    return result
