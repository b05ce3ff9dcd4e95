"""Layers in the kernel buffer, and every read of them with the words that it must give."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from merp.models.machines.mac_array.circulant import Words, parameter_beats

LATENCY = 2
"""Cycles from a read to its words."""


class BufferLayer(NamedTuple):
    """Input maps, output maps, rows and columns of a kernel."""

    inputs: int
    outputs: int
    side: int


class BufferRead(NamedTuple):
    """The inputs of a read, and the words that the first lanes must get."""

    base: int
    turn: int
    rows: int
    taps: int
    wanted: tuple[int, ...]


def layers(lanes: int, sides: range) -> list[BufferLayer]:
    """Layers with as many maps as lanes, a few fewer and a few more."""
    maps = (1, lanes - 1, lanes, lanes + 1, 2 * lanes + 3)
    return [BufferLayer(*each) for each in product(maps, maps, sides)]


def content(layer: BufferLayer, lanes: int) -> tuple[Words, Words]:
    """Kernels (outputs, inputs, taps), and the beats of them, noise in lanes without an output."""
    rng = np.random.default_rng([lanes, *layer])
    rounded_up = -(-layer.outputs // lanes) * lanes
    whole = rng.integers(-32768, 32768, (rounded_up, layer.inputs, layer.side**2))
    kernels, padding = np.split(whole, [layer.outputs])
    return kernels, parameter_beats(kernels, lanes, padding)


def reads(kernels: Words, lanes: int) -> list[BufferRead]:
    """Every row and tap, and every column and window position, wanted words by definition."""
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
