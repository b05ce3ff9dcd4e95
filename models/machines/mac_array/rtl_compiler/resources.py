"""DSP blocks and block RAM of the array: straight lines through the three designs of table II."""

from __future__ import annotations

from collections.abc import Iterable

from merp.models.machines.mac_array.geometry import Geometry
from merp.models.machines.mac_array.params.design import Array

MAPS = (4, 8, 16, 32, 64)
"""Output maps at once that may be chosen; 16, 32 and 64 are the paper's."""


def macs(maps: int) -> int:
    """Return the multiply-adds a cycle."""
    return Array(pof=maps).macs


def dsp_blocks(maps: int, there: int) -> float:
    """Return the DSP blocks; where there are too few, logic multiplies. Fitted to 1X and 2X."""
    return min(35 + 1.625 * macs(maps), there)


def memory_bits(layers: Iterable[Geometry], maps: int, word_bits: int) -> float:
    """Return the bits on the chip: the largest layer's kernels twice, old and new, and tiles.

    Two numbers were fitted to three.
    """
    kernels = max(layer.kernels for layer in layers)
    return 2 * kernels * word_bits + (0.7 + 8.72 * maps / 16) * 1e6 * word_bits / 16
