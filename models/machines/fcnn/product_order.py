"""The order of elements on the streams of a matrix product: tiles, then pieces of R elements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from merp.models.base.bits import Bits
from merp.models.machines.fcnn.params.product_registers import ProductRun


def _tiles(run: ProductRun) -> Iterator[tuple[slice, slice]]:
    """Yield rows and columns of each tile of C, with the elements beyond the edge."""
    design = run.design
    high, wide = (pieces * design.size for pieces in (run.row_pieces, run.column_pieces))
    for left in range(0, wide, design.tile_columns):
        for top in range(0, high, design.tile_rows):
            yield (
                slice(top, min(high, top + design.tile_rows)),
                slice(left, min(wide, left + design.tile_columns)),
            )


def product_streams(run: ProductRun, a: Bits, b: Bits, bias: Bits, filler: int = 0) -> list[Bits]:
    """Return the beats of the three inputs, (beats, elements) words.

    Args:
        run: the run.
        a: (rows, inner) words.
        b: (inner, columns) words.
        bias: (columns,) words; not used without biases.
        filler: the element beyond an edge.
    """
    size = run.design.size
    a = np.pad(a, ((0, -run.rows % size), (0, 0)), constant_values=filler)
    b = np.pad(b, ((0, 0), (0, -run.columns % size)), constant_values=filler)
    maps = [a[rows].T.reshape(-1, size) for rows, _ in _tiles(run)]
    kernels = [b[:, columns].reshape(-1, size) for _, columns in _tiles(run)]
    return [np.concatenate(maps), np.concatenate(kernels), bias[: run.bias_words].reshape(-1, 1)]


def output_order(run: ProductRun) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return row * O + column of each element of the output, and whether it lies in C.

    Elements beyond the last row have the place 0.
    """
    places = []
    for rows, columns in _tiles(run):
        kept = np.arange(columns.start, min(columns.stop, run.columns))
        down = np.arange(rows.start, rows.stop)
        place = down * run.columns + kept[:, np.newaxis]
        places.append(np.where(down < run.rows, place, -1).reshape(-1))
    found = np.concatenate(places)
    return np.maximum(found, 0), found >= 0


def product_of(run: ProductRun, elements: Bits) -> Bits:
    """Return C (rows, columns) from the elements of the output, in the order of the port."""
    order, inside = output_order(run)
    found = np.zeros(run.rows * run.columns, np.uint32)
    found[order[inside]] = elements.reshape(-1)[inside]
    return found.reshape(run.rows, run.columns)
