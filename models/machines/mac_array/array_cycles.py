"""Slots of the array for one image.

In one slot the array processes one tap of one input map, for all its pixels and output maps.
"""

from __future__ import annotations

from merp.models.machines.mac_array.geometry import Geometry
from merp.models.machines.mac_array.params.design import Array, over


def forward_slots(layer: Geometry, array: Array) -> int:
    """Return the slots of FP."""
    tiles = array.row_blocks(layer.out_rows) * array.column_blocks(layer.out_columns)
    return layer.groups * layer.n * layer.k**2 * tiles * array.map_tiles(layer.m)


def delta_slots(layer: Geometry, array: Array) -> int:
    """Return the slots of DP; 0 if the layer has no DP.

    With a stride, each phase of the grid has its own taps.
    """
    if not layer.propagates:
        return 0
    rows, columns = (over(size, layer.stride) for size in (layer.rows, layer.columns))
    tiles = array.row_blocks(rows) * array.column_blocks(columns)
    return layer.groups * layer.m * layer.k**2 * tiles * array.map_tiles(layer.n)


def update_slots(layer: Geometry, array: Array) -> int:
    """Return the slots of KU; 0 if the layer has no KU.

    Each pixel of the array sums one kernel element, over all deltas. With load balancing, the
    pixels that one kernel leaves idle sum the kernels of other input maps.
    source: section III.F, regions of powers of two
    """
    if not layer.updates:
        return 0
    pairs = array.map_tiles(layer.m) * over(layer.n, array.regions(layer.k))
    return layer.groups * pairs * array.tap_tiles(layer.k) * layer.out_rows * layer.out_columns


SLOTS = {"fp": forward_slots, "dp": delta_slots, "ku": update_slots}
"""The function that counts the slots of each phase."""
