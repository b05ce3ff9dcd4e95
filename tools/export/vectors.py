"""Passes whose vectors an export holds: a layer on ``merp simulate``'s input, and a small one.

The small pass runs on the same elaboration with small run-time registers, so that a simulator of
some ten cycles per second ends in minutes.
"""

from __future__ import annotations

from dataclasses import replace

from merp.cosim.phases.expectation import Pass
from merp.models.base.bits import Bits
from merp.models.base.shape import Shape
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import Parameters, parameters
from merp.models.machines.cnn_merp.designs import designs_of
from merp.models.machines.cnn_merp.fused_pair import fused_layers
from merp.models.network.branches import previous
from merp.models.network.network import Layer, Network
from merp.models.network.phases import DP, NAMED, ONE_PASS, PAIR, made_by
from merp.tools.bitstream.bitstream import Bitstream
from merp.tools.common.input_maps import input_maps, random_maps

SMALL_MAPS = 4  # that come in
SMALL_ROWS = {
    "fp": 9,
    "dp": 5,
    "ku": 9,
    ONE_PASS: 9,
    PAIR: 9,
}  # un-pooling makes many rows of the few that leave


def whole_pass(bitstream: Bitstream, layer: Layer, images: int) -> Pass:
    """The first group of a layer, on what the golden makes of the network's input in front."""
    network = bitstream.network
    image = input_maps(network, images)
    return _pass(bitstream, network, layer, image, parameters(network, 0))


def small_pass(bitstream: Bitstream) -> Pass:
    """A small layer, of random numbers, on the elaboration of ``bitstream``."""
    network = small_network(bitstream)
    image = random_maps(network, 1)
    layer = network.layers[0 if NAMED[bitstream.phase.name].fuses else -1]
    return _pass(bitstream, network, layer, image, parameters(network, 0))


def small_network(bitstream: Bitstream) -> Network:
    """The first layer with few and small maps, and a layer that feeds it unless it is the first.

    The one in front has kernels of 1 x 1, and ReLU and pooling of the layer that is there.
    """
    network, layer = bitstream.network, bitstream.layers[0]
    if NAMED[bitstream.phase.name].fuses:
        return _small_pair(network)
    shape = _small(layer.shape, bitstream)
    small = replace(layer, groups=1, shape=shape, input=None, add=None)
    earlier = previous(network, layer)
    if earlier is None:
        layers: tuple[Layer, ...] = (small,)
    else:
        pool = earlier.shape.pool
        rows, columns = shape.rows, shape.columns
        if pool:
            rows, columns = pool.elements(rows, columns)
        relu = earlier.shape.relu
        front = Shape(n=1, m=shape.n, k=1, rows=rows, columns=columns, relu=relu, pool=pool)
        layers = Layer(name=f"before {layer.name}", kind="conv", shape=front), small
    first = layers[0].shape
    size = first.rows, first.columns, first.n
    return replace(network, input=size, layers=layers, weights={})


def _small_pair(network: Network) -> Network:
    """Two fused layers with few and small maps: of the second as many as leave whole bytes."""
    first, second = fused_layers(network)
    groups = second.groups // first.groups
    behind = _with_maps(second.shape, 2, 8)
    pool = first.shape.pool
    rows, columns = (behind.rows, behind.columns)
    if pool:
        rows, columns = pool.elements(rows, columns)
    before = replace(
        _with_maps(first.shape, 2, groups * behind.n),
        rows=(rows - 1) * first.shape.stride + first.shape.k - first.shape.border,
        columns=(columns - 1) * first.shape.stride + first.shape.k - first.shape.border,
    )
    layers = (
        replace(first, groups=1, shape=before, input=None),
        replace(second, groups=groups, shape=behind, input=None),
    )
    return replace(
        network, input=(before.rows, before.columns, before.n), layers=layers, weights={}
    )


def _with_maps(shape: Shape, n: int, m: int) -> Shape:
    """A layer of few maps that are small, where they are not already."""
    pool = shape.pool
    sums = pool.window + pool.stride if pool else 2
    rows = max((sums - 1) * shape.stride + shape.k - shape.border, 1)
    return replace(
        shape,
        n=min(shape.n, n),
        m=min(shape.m, m),
        rows=min(shape.rows, rows),
        columns=min(shape.columns, rows),
    )


def _small(shape: Shape, bitstream: Bitstream) -> Shape:
    """Maps of two groups, the last CU idle in the second, and windows that are pooled."""
    crowd = 2 * designs_of(bitstream.network)[bitstream.design].n_cu - 1
    phase = NAMED[bitstream.phase.name]
    few = crowd if phase.combined else SMALL_MAPS  # a half has half of the CUs
    n, m = (crowd, SMALL_MAPS) if phase is DP else (few, crowd)
    pool = shape.pool
    sums = pool.window + pool.stride if pool else 2
    rows = max((sums - 1) * shape.stride + shape.k - shape.border, SMALL_ROWS[bitstream.phase.name])
    return replace(
        shape,
        n=min(shape.n, n),
        m=min(shape.m, m),
        rows=min(shape.rows, rows),
        columns=min(shape.columns, rows),
    )


def _pass(
    bitstream: Bitstream, network: Network, layer: Layer, image: Bits, made: Parameters
) -> Pass:
    """The first group of a layer of ``network``, on the elaboration of ``bitstream``."""
    layers = dict.fromkeys((layer, made_by(network, layer, bitstream.phase.name)))
    step = GoldenStep(network, tuple(layers), image, made, pooled=bitstream.before)
    return bitstream.phase.on(network).golden_pass(layer, 0, step)
