"""Lower bounds of the memory of the golden models, from the sizes of a network.

Words are four bytes. The counted data is in memory at the same time. The bounds were compared with
the largest resident set of real runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from merp.models.network.network import Layer, Network

WORD = 4
UPDATE = 3
"""Copies of the largest layer's kernels during its update: gradient, step, operand."""
AT_ONCE = 256
"""Most images that are classified together."""
ROOM = 1 << 30
"""Most bytes of their maps, if there are several images."""


def golden_bytes(network: Network, last: Layer, images: int, *, whole_step: bool) -> int:
    """Return the bytes of the data for a pass of the hardware: its inputs and expected outputs.

    The data is that of ``golden_step``.

    Args:
        last: the last layer of the inference.
        whole_step: all layers run, forward and backward.
    """
    layers = network.layers
    if whole_step:
        return _parameters(layers) + _kept(layers, images)
    place = [layer.name for layer in layers].index(last.name)  # last may have fewer rows
    layers = (*layers[:place], last)
    return _parameters(layers) + WORD * images * max(_maps(layer) for layer in layers)


def training_bytes(network: Network, batch: int, held_out: int) -> int:
    """Return the bytes of training: parameters and velocities, old and new, an update, and all
    maps.
    """
    layers = network.layers
    largest = max(_parameters([layer]) for layer in layers)
    maps = max(_kept(layers, batch), _kept(layers, min(held_out, at_once(network))))
    return 4 * _parameters(layers) + UPDATE * largest + maps


def at_once(network: Network) -> int:
    """Return the images that are classified together; the bits do not depend on their number."""
    return max(1, min(AT_ONCE, ROOM // _kept(network.layers, 1)))


def _parameters(layers: Sequence[Layer]) -> int:
    """Return the number of kernel elements and biases."""
    return WORD * sum(layer.kernels + layer.biases for layer in layers)


def _kept(layers: Sequence[Layer], images: int) -> int:
    """Return the elements that forward propagation stores: each layer's input, and sums or
    deltas.
    """
    return WORD * images * sum(layer.inputs + layer.sums for layer in layers)


def _maps(layer: Layer) -> int:
    """Return the elements of one image in a layer's computation: input, padded input, and sums."""
    shape = layer.shape
    padded = layer.groups * shape.n * shape.padded_rows * shape.padded_columns
    return layer.inputs + padded + layer.sums
