"""Maps as the atoms that a pass of FP or DP takes, in its order.

An atom is as many consecutive columns of a row of a map as the array has MACs in a row. The order
is band, map, row, column: a band of rows is what the next band of windows needs of new ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from merp.models.params.mac_array.array_pass import ArrayPass
from merp.models.params.mac_array.design import Design

Words = npt.NDArray[np.int64]


def band_ends(work: ArrayPass, poy: int) -> list[int]:
    """Of each band of windows: rows of a map that must have come before it is computed."""
    if work.phase == "fp":
        rows, out, stride, pad = work.rows, work.out_rows, work.stride, work.pad
    else:
        rows, out, stride, pad = work.out_rows, work.rows, 1, work.kernel - 1 - work.pad
    lowest = [stride * (band + poy - 1) + work.kernel - 1 - pad for band in range(0, out, poy)]
    ends = [min(rows, row + 1) for row in lowest]
    ends[-1] = rows
    return ends


def atoms_in(work: ArrayPass, design: Design) -> Iterator[tuple[int, int, int]]:
    """Map, row and column block of each atom."""
    delta = work.phase == "dp"
    maps = work.outputs if delta else work.inputs
    columns = work.out_columns if delta else work.columns
    begin = 0
    for end in band_ends(work, design.poy):
        for each_map in range(maps):
            for row in range(begin, end):
                for block in range(design.column_blocks(columns)):
                    yield each_map, row, block
        begin = end


def update_maps(work: ArrayPass, design: Design) -> Iterator[tuple[int, int, int]]:
    """Map, row and column block of each atom of maps in KU: group, row, map, column."""
    regions = design.regions(work.kernel)
    for low in range(0, work.inputs, regions):
        maps = range(low, min(low + regions, work.inputs))
        for row in range(work.rows):
            for each_map in maps:
                for block in range(design.column_blocks(work.columns)):
                    yield each_map, row, block


def update_deltas(work: ArrayPass, design: Design) -> Iterator[tuple[int, int, int]]:
    """The same of its deltas: tile of lanes, row, lane, column."""
    for low in range(0, work.outputs, design.pof):
        maps = range(low, min(low + design.pof, work.outputs))
        for row in range(work.out_rows):
            for each_map in maps:
                for block in range(design.column_blocks(work.out_columns)):
                    yield each_map, row, block


def atom_words(
    maps: Words,
    order: Iterable[tuple[int, int, int]],
    design: Design,
    noise: np.random.Generator,
) -> Words:
    """The atoms of maps (maps, rows, columns) in an order, as (atoms, pox) words of 16 bits.

    Behind a row's last column come words of no meaning, drawn from ``noise``.
    """
    columns = maps.shape[2]
    width = design.column_blocks(columns) * design.pox
    filled = noise.integers(-32768, 32768, (*maps.shape[:2], width))
    filled[:, :, :columns] = maps
    blocks = filled.reshape(*maps.shape[:2], -1, design.pox)
    return np.array([blocks[place] for place in order])
