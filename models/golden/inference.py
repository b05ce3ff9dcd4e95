"""Golden model of the forward propagation of a whole network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.summation import TREE, Summation
from merp.models.golden.concatenated import whole
from merp.models.golden.in_memory import in_memory, input_in_memory
from merp.models.golden.initial import Parameters
from merp.models.golden.super_layer import super_layer
from merp.models.network.branches import added, previous
from merp.models.network.network import Layer, Network


class LayerMaps(NamedTuple):
    """Input and output of a layer, all groups, as words.

    Attributes:
        layer: the layer.
        x: (images, rows, columns, groups*n).
        y: (images, pooled rows, pooled columns, groups*m).
    """

    layer: Layer
    x: Bits
    y: Bits


def group_maps(x: Bits, layer: Layer, group: int) -> Bits:
    """Return the input maps of one group of a layer: (images, rows, columns, n)."""
    n = layer.shape.n
    return np.ascontiguousarray(x[..., group * n : (group + 1) * n])


def own_maps(maps: Bits, layer: Layer, group: int) -> Bits:
    """Return the maps of one group of maps that are arranged like the layer's sums: (..., m)."""
    m = layer.shape.m
    return np.ascontiguousarray(maps[..., group * m : (group + 1) * m])


def group_parameters(layer: Layer, group: int, kernels: Bits, bias: Bits) -> tuple[Bits, Bits]:
    """Return kernels (m, n, k, k) and biases (m,) of one group of a layer."""
    maps = slice(group * layer.shape.m, (group + 1) * layer.shape.m)
    return kernels[maps], bias[maps]


def as_input(maps: Bits, layer: Layer) -> Bits:
    """Return maps as a layer reads them: a fully connected layer after maps reads them flattened.

    The elements of one image become the channels of a 1 x 1 map, in the order row, column, channel.

    Raises:
        ValueError: the maps do not have the size of the layer's input.
    """
    if layer.kind == "fc":
        maps = maps.reshape(len(maps), 1, 1, -1)
    wanted = (layer.shape.rows, layer.shape.columns, layer.groups * layer.shape.n)
    if maps.shape[1:] != wanted:
        raise ValueError(f"{layer.name}: input must be of size {wanted}, not {maps.shape[1:]}")
    return maps


def inputs(
    network: Network, layer: Layer, images: Bits, made: Mapping[str, Bits]
) -> tuple[Bits, Bits | None]:
    """Return a layer's input and the maps added to its sums, from the outputs ``made``, by name.

    images: (images, rows, columns, channels) words, not yet rounded to their storage format.
    """
    front, beside = previous(network, layer), added(network, layer)
    if front is None:
        x = as_input(input_in_memory(images, network), layer)
    else:
        x = as_input(whole(network, front, lambda part: made[part.name]), layer)
    if beside is None:
        return x, None
    size = len(x), layer.shape.out_rows, layer.shape.out_columns, layer.biases
    return x, made[beside.name].reshape(size)


def forward_layer(
    layer: Layer,
    x: Bits,
    kernels: Bits,
    bias: Bits,
    fmt: FloatFormat,
    summation: Summation = TREE,
    add: Bits | None = None,
) -> Bits:
    """Run all groups of a layer; their output maps follow each other.

    add: (images, out_rows, out_columns, groups*m) words that are added to the sums, if there are
    any.
    """
    groups = [
        super_layer(
            group_maps(x, layer, group),
            *group_parameters(layer, group, kernels, bias),
            layer.shape,
            fmt,
            summation,
            None if add is None else own_maps(add, layer, group),
        )
        for group in range(layer.groups)
    ]
    return np.concatenate(groups, axis=-1)


def inference(network: Network, image: Bits, parameters: Parameters) -> Iterator[LayerMaps]:
    """Run the layers one after the other, as far as the caller iterates.

    Args:
        network: the network; a layer without a design sums like the paper's CU.
        image: (images, rows, columns, channels) words.
        parameters: kernels and biases of every layer (``initial.parameters``), as in memory.

    Yields:
        Input and output of each layer, in order.
    """
    made: dict[str, Bits] = {}
    for layer in network.layers:
        x, add = inputs(network, layer, image, made)
        summation = network.summation(layer)
        y = forward_layer(layer, x, *parameters[layer.name], network.fmt, summation, add)
        y = made[layer.name] = in_memory(y, "maps", network.fmt, network.storage)
        yield LayerMaps(layer, x, y)
