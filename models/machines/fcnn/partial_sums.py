"""Golden model of the words of a convolution module: its sums after each input map.

Written from the specification of the module, F-CNN section IV: a sum starts at its bias, at +0 or
at the sum of an earlier run. Each input map in turn adds its sum of products: k*k rounded products,
taps row by row, added in a balanced tree. A tap outside the map is +0 and multiplies its kernel
element like any other.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.fp_tree import fp_tree
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.params.conv_registers import StreamRun


def partial_sums(
    x: Bits, kernels: Bits, start: Bits, shape: Shape, fmt: FloatFormat
) -> Iterator[Bits]:
    """Yield the sums after each input map.

    Args:
        x: (images, rows, columns, n) words. Dilated maps have their blanks.
        kernels: (m, n, k, k) words.
        start: words that broadcast to (images, out_rows, out_columns, m): biases, +0, or sums.
        shape: the convolution.
        fmt: number format.

    Yields:
        (images, out_rows, out_columns, m) words.
    """
    images, size = len(x), (shape.out_rows, shape.out_columns)
    padded = np.zeros((images, shape.padded_rows, shape.padded_columns, shape.n), np.uint32)
    padded[:, shape.top :, shape.left :][:, : shape.rows, : shape.columns] = x
    sums = np.ascontiguousarray(np.broadcast_to(start, (images, *size, shape.m)), np.uint32)
    for given in range(shape.n):
        window = np.lib.stride_tricks.sliding_window_view(
            padded[..., given], (shape.k, shape.k), axis=(1, 2)
        )[:, :: shape.stride, :: shape.stride]
        added = np.empty_like(sums)
        for out in range(shape.m):
            products = fp_mul(np.ascontiguousarray(window), kernels[out, given], fmt)
            added[..., out] = fp_tree(products.reshape(images, *size, shape.taps), fmt)
        sums = fp_add(sums, added, fmt)
        yield sums


def dilated(deltas: Bits, run: StreamRun) -> Bits:
    """Return maps with the blanks of a run: (images, rows, columns, n) of its shape."""
    shape, dilation = run.grid.shape, run.grid.dilation
    maps = np.zeros((len(deltas), shape.rows, shape.columns, shape.n), np.uint32)
    maps[:, ::dilation, ::dilation] = deltas
    return maps


def map_words(x: Bits, run: StreamRun) -> Bits:
    """Return the elements of the maps in stream order: each block of output maps sees all of them.

    x: (images, rows, columns, n) words, without blanks. Returns (beats, lanes) words.
    """
    in_order = np.ascontiguousarray(x.transpose(3, 1, 2, 0)).reshape(-1, run.design.lanes)
    return np.tile(in_order, (run.grid.blocks, 1))


def kernel_words(kernels: Bits, run: StreamRun) -> Bits:
    """Return kernels (m, n, k, k) in stream order: block, input map, map of the block, and tap."""
    size = run.design.maps_at_once
    blocks = [kernels[first : first + size] for first in range(0, len(kernels), size)]
    return np.concatenate([each.swapaxes(0, 1).reshape(-1) for each in blocks])


def sum_words(sums: Bits, run: StreamRun) -> Bits:
    """Return sums of all passes in stream order; a missing map of the last block has zeros.

    sums: (n, images, out_rows, out_columns, m) words, the sums after each input map. Returns
    (beats, maps_at_once * lanes) words.
    """
    design, grid = run.design, run.grid
    missing = grid.blocks * design.maps_at_once - grid.shape.m
    filled = np.pad(sums, ((0, 0),) * 4 + ((0, missing),))
    n, images, rows, columns, maps = filled.shape
    parts = filled.reshape(
        n, grid.step, images // grid.step, rows, columns, grid.blocks, maps // grid.blocks
    )
    in_order = parts.transpose(5, 0, 3, 4, 1, 6, 2)  # block, map, row, column, beat; map, lane
    return np.ascontiguousarray(in_order).reshape(-1, design.maps_at_once * design.lanes)


def sums_of(words: Bits, run: StreamRun) -> Bits:
    """Return the sums in the words of the port, as ``sum_words`` takes them."""
    design, grid, shape = run.design, run.grid, run.grid.shape
    parts = words.reshape(
        grid.blocks, shape.n, shape.out_rows, shape.out_columns, grid.step, design.maps_at_once,
        design.lanes,
    )  # fmt: skip
    sums = parts.transpose(1, 4, 6, 2, 3, 0, 5).reshape(
        shape.n, grid.images, shape.out_rows, shape.out_columns, -1
    )
    return np.ascontiguousarray(sums[..., : shape.m])


def partial_words(sums: Bits, run: StreamRun, start: Bits | None = None) -> Bits:
    """Return the partial sums that come back, in stream order, (beats, maps_at_once * lanes) words.

    Args:
        sums: as in ``sum_words``.
        run: the run.
        start: (images, out_rows, out_columns, m) words, the sums of the run before, if the run
            continues them.
    """
    grid, shape = run.grid, run.grid.shape
    before = np.concatenate([sums[:1] if start is None else start[np.newaxis], sums[:-1]])
    words = sum_words(before, run).reshape(grid.blocks, shape.n, grid.out_beats, -1)
    kept = words if run.begun else words[:, 1:]
    return kept.reshape(-1, words.shape[-1])
