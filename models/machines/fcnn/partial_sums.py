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
