"""The order of elements on the streams of convolution and gradient modules: layout N R C B."""

from __future__ import annotations

import numpy as np

from merp.models.base.bits import Bits
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.params.conv_registers import StreamRun
from merp.models.machines.fcnn.params.grid import Grid
from merp.models.machines.fcnn.params.stream_design import StreamDesign


def map_elements(x: Bits, design: StreamDesign) -> Bits:
    """Arrange maps (images, rows, columns, n) as (map, row, column, beat of the column, lane)."""
    in_order = x.transpose(3, 1, 2, 0)
    return in_order.reshape(*in_order.shape[:3], -1, design.lanes)


def block_elements(maps: Bits, design: StreamDesign, filler: int = 0) -> Bits:
    """Arrange maps in blocks: (block, row, column, beat of the column, elements of a beat).

    ``filler`` is the element of missing maps.
    """
    _, rows, columns, m = maps.shape
    at_once = design.maps_at_once
    wide = np.pad(maps, ((0, 0), (0, 0), (0, 0), (0, -m % at_once)), constant_values=filler)
    blocks = wide.shape[-1] // at_once
    in_order = wide.reshape(-1, design.lanes, rows, columns, blocks, at_once)
    beats = in_order.transpose(4, 2, 3, 0, 5, 1)
    return beats.reshape(blocks, rows, columns, -1, at_once * design.lanes)


def map_words(x: Bits, grid: Grid) -> Bits:
    """Return maps in stream order: each block of output maps sees all of them.

    x: (images, rows, columns, n) words, without blanks. Returns (beats, lanes) words.
    """
    beats = map_elements(x, grid.design).reshape(-1, grid.design.lanes)
    return np.tile(beats, (grid.blocks, 1))


def kernel_words(kernels: Bits, design: StreamDesign) -> Bits:
    """Return kernels (m, n, k, k) in stream order: block, input map, map of the block, and tap."""
    size = design.maps_at_once
    blocks = [kernels[first : first + size] for first in range(0, len(kernels), size)]
    return np.concatenate([each.swapaxes(0, 1).reshape(-1) for each in blocks])


def sum_words(sums: Bits, grid: Grid) -> Bits:
    """Return sums of all passes in stream order; a missing map of the last block has zeros.

    sums: (n, images, out_rows, out_columns, m) words, the sums after each input map. Returns
    (beats, maps_at_once * lanes) words.
    """
    passes = np.stack([block_elements(each, grid.design) for each in sums], axis=1)
    return passes.reshape(-1, grid.design.kernels)


def sums_of(words: Bits, grid: Grid) -> Bits:
    """Return the sums in the words of the port, as ``sum_words`` takes them."""
    design, shape = grid.design, grid.shape
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
    words = sum_words(before, grid).reshape(grid.blocks, shape.n, grid.out_beats, -1)
    kept = words if run.begun else words[:, 1:]
    return kept.reshape(-1, words.shape[-1])


def gradient_streams(grid: Grid, x: Bits, delta: Bits, filler: int = 0) -> tuple[Bits, Bits]:
    """Return the beats of maps and deltas: (beats, elements of a beat) words.

    Args:
        grid: the walk.
        x: (images, rows, columns, n) words.
        delta: (images, out_rows, out_columns, m) words.
        filler: deltas of missing maps.
    """
    deltas = np.stack([block_elements(delta, grid.design, filler)] * grid.shape.n, axis=1)
    return map_words(x, grid), deltas.reshape(-1, grid.design.kernels)


def gradient_order(m: int, n: int, taps: int, design: StreamDesign) -> Bits:
    """Return the place of each word of the port in biases (m,), followed by kernels (m, n, taps).

    The order is block, input map, map of the block: its bias with the first input map, then taps.
    """
    found: list[int] = []
    for first in range(0, m, design.maps_at_once):
        for i in range(n):
            for j in range(first, min(m, first + design.maps_at_once)):
                kernel = m + (j * n + i) * taps
                found += [*([j] if i == 0 else []), *range(kernel, kernel + taps)]
    return np.array(found, np.uint32)


def gradient_words(kernels: Bits, biases: Bits, design: StreamDesign) -> Bits:
    """Return gradients (m, n, k, k) and (m,) in the order of the port."""
    m, n, k, _ = kernels.shape
    every = np.concatenate([biases, kernels.reshape(-1)])
    return every[gradient_order(m, n, k * k, design)]


def gradients_of(words: Bits, shape: Shape, design: StreamDesign) -> tuple[Bits, Bits]:
    """Return gradients (m, n, k, k) and (m,) of the words of the port."""
    m, n, k = shape.m, shape.n, shape.k
    every = np.empty(m * (n * k * k + 1), np.uint32)
    every[gradient_order(m, n, k * k, design)] = words
    return every[m:].reshape(m, n, k, k), every[:m]
