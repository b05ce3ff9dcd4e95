"""The orders of atoms and parameter beats on the ports of the array, for one image.

An atom is (map, row, column block). A parameter beat is (tile of output maps, input map, tap). In a
beat of biases, ``BIAS`` replaces the input map.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import Array, over

Atom = tuple[int, int, int]
Beat = tuple[int, int, int]

BIAS = -1


def beats_of_update(of: ArrayPass, array: Array) -> list[tuple[int, int]]:
    """Return (input map, tap) of each parameter beat in KU order, for a tile of output maps.

    The loops from outermost to innermost are: groups of input maps, tiles of taps, input maps of
    the group, taps in ascending order. With one tile of taps, the beats are in ascending order. The
    beat of biases, which follows, is not in the list.
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


def forward_kernels(of: ArrayPass, array: Array) -> Iterator[Beat]:
    """Yield the kernels and biases of FP, in the order of the kernel buffer's addresses."""
    for tile in range(array.map_tiles(of.outputs)):
        for i, tap in product(range(of.inputs), range(of.taps)):
            yield tile, i, tap
        yield tile, BIAS, 0


def delta_kernels(of: ArrayPass, array: Array) -> Iterator[Beat]:
    """Yield the kernels of DP: all kernels of one tile of input maps, then those of the next."""
    for low in range(0, of.inputs, array.pof):
        maps = range(low, min(low + array.pof, of.inputs))
        yield from product(range(array.map_tiles(of.outputs)), maps, range(of.taps))


def update_parameters(of: ArrayPass, array: Array) -> Iterator[Beat]:
    """Yield the parameter beats of KU, both incoming and outgoing.

    They are gradients and, for the last image of a batch, velocities and kernels.
    """
    order = beats_of_update(of, array)
    for tile in range(array.map_tiles(of.outputs)):
        for i, tap in order:
            yield tile, i, tap
        yield tile, BIAS, 0


def load_bands(of: ArrayPass, array: Array) -> Iterator[range]:
    """Yield the rows of the incoming maps that are loaded with each band of FP and DP.

    In DP, the incoming maps are deltas of the sums.
    """
    if of.phase == "dp":
        first = array.poy + (of.stride - 1 + of.pad) // of.stride
        rows, step, bands = of.out_rows, array.poy, array.row_blocks(over(of.rows, of.stride))
    else:
        first = of.stride * (array.poy - 1) + of.kernel - of.pad
        rows, step, bands = of.rows, of.stride * array.poy, array.row_blocks(of.out_rows)
    low = 0
    for band in range(bands):
        high = rows if band == bands - 1 else min(rows, first + band * step)
        yield range(low, high)
        low = high


def maps_in(of: ArrayPass, array: Array) -> Iterator[Atom]:
    """Yield the maps of FP or the deltas of DP, ordered by band, map, row, column block.

    A row of pooled deltas belongs to the band of its first row of sums. Rows of sums that fill no
    window have no pooled deltas.
    """
    delta = of.phase == "dp"
    window = of.pool if delta and of.fused else 1
    maps, columns = (of.outputs, of.out_columns) if delta else (of.inputs, of.columns)
    blocks = range(array.column_blocks(columns // window))
    pooled = of.out_rows // window if delta else of.rows
    for rows in load_bands(of, array):
        own = range(over(rows.start, window), min(over(rows.stop, window), pooled))
        yield from product(range(maps), own, blocks)


def outputs_of_forward(of: ArrayPass, array: Array) -> Iterator[Atom]:
    """Yield the output maps of FP, ordered by band, tile of maps, column tile, lane, row.

    With pooling, a group of column tiles replaces the column tile. With a loss, the deltas follow
    all outputs in the same order.
    """
    for _ in range(1 if of.loss is None else 2):
        yield from _outputs(of, array)


def _outputs(of: ArrayPass, array: Array) -> Iterator[Atom]:
    window = of.pool if of.fused else 1
    rows, columns = of.out_rows // window, of.out_columns // window
    at_once = array.poy // window
    for band in range(array.row_blocks(of.out_rows)):
        own = range(band * at_once, min((band + 1) * at_once, rows))
        for low in range(0, of.outputs, array.pof):
            maps = range(low, min(low + array.pof, of.outputs))
            for block in range(array.column_blocks(columns)):
                yield from product(maps, own, (block,))


def outputs_of_delta(of: ArrayPass, array: Array) -> Iterator[Atom]:
    """Yield the outgoing deltas of DP.

    They are ordered by band, row within the stride, tile of maps, column tile, lane, row, atom. The
    stride is the number of a row's atoms in a column tile.
    """
    stride, all_blocks = of.stride, array.column_blocks(of.columns)
    tiles = range(0, all_blocks, stride)
    for band in range(array.row_blocks(over(of.rows, stride))):
        for phase in range(stride):
            above = (stride * (band * array.poy + place) + phase for place in range(array.poy))
            own = [row for row in above if row < of.rows]
            for low, tile in product(range(0, of.inputs, array.pof), tiles):
                maps = range(low, min(low + array.pof, of.inputs))
                yield from product(maps, own, range(tile, min(tile + stride, all_blocks)))


def update_deltas(of: ArrayPass, array: Array) -> Iterator[Atom]:
    """Yield the deltas of KU, ordered by tile of maps, row, lane, column block."""
    window = of.pool if of.fused else 1
    blocks = range(array.column_blocks(of.out_columns // window))
    for low in range(0, of.outputs, array.pof):
        maps = range(low, min(low + array.pof, of.outputs))
        for row, lane, block in product(range(of.out_rows // window), maps, blocks):
            yield lane, row, block


def update_maps(of: ArrayPass, array: Array) -> Iterator[Atom]:
    """Yield the maps of KU, ordered by group of maps, row, map in the group, column block."""
    regions, blocks = array.regions(of.kernel), range(array.column_blocks(of.columns))
    for low in range(0, of.inputs, regions):
        maps = range(low, min(low + regions, of.inputs))
        for row, i, block in product(range(of.rows), maps, blocks):
            yield i, row, block


def pooling_in(of: ArrayPass, array: Array) -> Iterator[Atom]:
    """Yield the sums that a pooling pass reads from DRAM.

    They are ordered by map, pooled row, pooled atom, then window x window atoms. The last group of
    columns may have fewer atoms. Un-pooling sends its results in the same order.
    """
    blocks, all_blocks = array.column_blocks(of.pooled_columns), array.column_blocks(of.out_columns)
    for f, row, block in product(range(of.outputs), range(of.pooled_rows), range(blocks)):
        below = range(row * of.pool, (row + 1) * of.pool)
        beside = range(block * of.pool, min((block + 1) * of.pool, all_blocks))
        yield from product((f,), below, beside)


def pooling_out(of: ArrayPass, array: Array) -> Iterator[Atom]:
    """Yield the outputs of a pooling pass, ordered by map, pooled row, pooled atom.

    Un-pooling reads its inputs in the same order.
    """
    blocks = range(array.column_blocks(of.pooled_columns))
    return product(range(of.outputs), range(of.pooled_rows), blocks)
