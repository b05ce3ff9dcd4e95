"""The orders in which words pass the ports of the array."""

from __future__ import annotations

from merp.models.params.mac_array.array_pass import ArrayPass
from merp.models.params.mac_array.design import Array


def beats_of_update(of: ArrayPass, array: Array) -> list[tuple[int, int]]:
    """KU order: (input map, tap) of each parameter beat of a tile of output maps, without biases.

    Groups of input maps, tiles of taps; within a sweep maps, then taps ascending. With one tile of
    taps that is ascending order. A beat of biases follows.
    """
    side, regions, k = array.region_side(of.kernel), array.regions(of.kernel), of.kernel
    tiles = range(0, k, side)
    return [
        (i, row * k + column)
        for low in range(0, of.inputs, regions)
        for down in tiles
        for across in tiles
        for i in range(low, min(low + regions, of.inputs))
        for row in range(down, min(down + side, k))
        for column in range(across, min(across + side, k))
    ]
