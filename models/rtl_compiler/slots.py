"""Slots of the array for an image: a tap of an input map for all pixels and maps at once."""

from __future__ import annotations

from merp.models.mac_array.geometry import Geometry

PIXELS = 8
"""Output columns, and output rows, at once. source: section IV.A"""


def _over(count: int, at_once: int) -> int:
    return -(-count // at_once)


def forward_slots(layer: Geometry, maps: int) -> int:
    """Return the slots of FP with ``maps`` output maps at once."""
    tiles = _over(layer.out_rows, PIXELS) * _over(layer.out_columns, PIXELS)
    return layer.groups * layer.n * layer.k**2 * tiles * _over(layer.m, maps)


def delta_slots(layer: Geometry, maps: int) -> int:
    """Return the slots of DP, 0 without; with a stride each phase of the grid has its own taps."""
    if not layer.propagates:
        return 0
    rows, columns = (_over(size, layer.stride) for size in (layer.rows, layer.columns))
    tiles = _over(rows, PIXELS) * _over(columns, PIXELS)
    return layer.groups * layer.m * layer.k**2 * tiles * _over(layer.n, maps)


def update_slots(layer: Geometry, maps: int, *, balance: bool = True) -> int:
    """Return the slots of KU: a kernel element for each pixel of the array, over all deltas.

    ``balance``: what a kernel leaves of the pixels has the kernels of further input maps.
    source: section III.F, regions of powers of two
    """
    side = min(PIXELS, 1 << (layer.k - 1).bit_length())
    regions = (PIXELS // side) ** 2 if balance else 1
    sweeps = _over(layer.k, side) ** 2
    pairs = _over(layer.m, maps) * _over(layer.n, regions)
    return layer.groups * pairs * sweeps * layer.out_rows * layer.out_columns
