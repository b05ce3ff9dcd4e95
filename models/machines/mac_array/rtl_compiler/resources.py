"""DSP blocks and block RAM of the array: linear fits to the three designs of table II."""

from __future__ import annotations

from collections.abc import Iterable

from merp.models.machines.mac_array.geometry import Geometry
from merp.models.machines.mac_array.params.design import Array

MAPS = (4, 8, 16, 32, 64)
"""Allowed numbers of concurrent output maps; the paper has 16, 32 and 64."""


def macs(maps: int) -> int:
    """Return the multiply-adds per cycle."""
    return Array(pof=maps).macs


def dsp_blocks(maps: int, there: int) -> float:
    """Return the DSP blocks, fitted to 1X and 2X.

    If the part has too few DSP blocks, logic does the remaining multiplications.
    """
    return min(35 + 1.625 * macs(maps), there)


def memory_bits(layers: Iterable[Geometry], maps: int, word_bits: int) -> float:
    """Return the bits on the chip: old and new kernels of the largest layer, and tiles.

    The two coefficients of the tiles were fitted to three designs.
    """
    kernels = max(layer.kernels for layer in layers)
    return 2 * kernels * word_bits + (0.7 + 8.72 * maps / 16) * 1e6 * word_bits / 16
