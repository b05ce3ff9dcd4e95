"""Layers in the kernel buffer, and all reads of them with the expected words."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from merp.models.machines.mac_array.circulant import Words, parameter_beats

LATENCY = 2
"""Cycles from a read to its words at the output."""


class BufferLayer(NamedTuple):
    """Numbers of input maps and output maps, and the side of a kernel."""

    inputs: int
    outputs: int
    side: int


class BufferRead(NamedTuple):
    """The inputs of a read, and the expected words of the first lanes."""

    base: int
    turn: int
    rows: int
    taps: int
    wanted: tuple[int, ...]


def layers(lanes: int, sides: range) -> list[BufferLayer]:
    """Return layers whose number of maps is equal to, below or above the number of lanes."""
    maps = (1, lanes - 1, lanes, lanes + 1, 2 * lanes + 3)
    return [BufferLayer(*each) for each in product(maps, maps, sides)]


def content(layer: BufferLayer, lanes: int) -> tuple[Words, Words]:
    """Return kernels (outputs, inputs, taps) and their beats.

    Lanes without an output map carry noise.
    """
    rng = np.random.default_rng([lanes, *layer])
    rounded_up = -(-layer.outputs // lanes) * lanes
    whole = rng.integers(-32768, 32768, (rounded_up, layer.inputs, layer.side**2))
    kernels, padding = np.split(whole, [layer.outputs])
    return kernels, parameter_beats(kernels, lanes, padding)


def reads(kernels: Words, lanes: int) -> list[BufferRead]:
    """Return every read of a row and tap, and of a column and window position.

    The expected words follow from the definition.
    """
    outputs, inputs, taps = kernels.shape
    found = []
    for tile, i, k in product(range(-(-outputs // lanes)), range(inputs), range(taps)):
        wanted = kernels[tile * lanes : (tile + 1) * lanes, i, k].tolist()
        found.append(BufferRead((tile * inputs + i) * taps + k, i % lanes, 0, taps, tuple(wanted)))
    for f, tile, k in product(range(outputs), range(-(-inputs // lanes)), range(taps)):
        wanted = kernels[f, tile * lanes : (tile + 1) * lanes, taps - 1 - k].tolist()
        base = (f // lanes * inputs + tile * lanes) * taps + taps - 1 - k
        found.append(BufferRead(base, f % lanes, len(wanted), taps, tuple(wanted)))
    return found
