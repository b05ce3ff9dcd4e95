"""Bytes that the golden models cannot stay below, from the sizes of a network.

Words are four bytes. What is counted is held at one moment: it was compared with the largest
resident set of real runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from merp.models.network.network import Layer, Network

WORD = 4
UPDATE = 3
"""Copies of the largest layer's kernels while its update is computed: gradient, step, operand."""
AT_ONCE = 256
"""Images that are classified together."""


def golden_bytes(network: Network, last: Layer, images: int, *, whole_step: bool) -> int:
    """What a pass of the hardware is fed from and compared with (``golden_step``).

    Args:
        last: up to which inference runs. whole_step: all layers run, and deltas on their way back.
    """
    layers = network.layers
    if whole_step:
        return _parameters(layers) + _kept(layers, images)
    place = [layer.name for layer in layers].index(last.name)  # last may have fewer rows
    layers = (*layers[:place], last)
    return _parameters(layers) + WORD * images * max(_maps(layer) for layer in layers)


def training_bytes(network: Network, batch: int, held_out: int) -> int:
    """Training: old and new parameters and velocities, the update of a layer, and all maps."""
    layers = network.layers
    largest = max(_parameters([layer]) for layer in layers)
    maps = max(_kept(layers, batch), _kept(layers, min(held_out, AT_ONCE)))
    return 4 * _parameters(layers) + UPDATE * largest + maps


def _parameters(layers: Sequence[Layer]) -> int:
    """Kernels and biases."""
    return WORD * sum(layer.kernels + layer.biases for layer in layers)


def _kept(layers: Sequence[Layer], images: int) -> int:
    """What stays of forward propagation: each layer's input, and its sums or their deltas."""
    return WORD * images * sum(layer.inputs + layer.sums for layer in layers)


def _maps(layer: Layer) -> int:
    """Elements of one image while a layer is computed: its input, also padded, and its sums."""
    shape = layer.shape
    padded = layer.groups * shape.n * shape.padded_rows * shape.padded_columns
    return layer.inputs + padded + layer.sums
