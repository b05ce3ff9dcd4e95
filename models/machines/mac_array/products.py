"""The three sums of products of a convolution, calculated as products of float64 matrices.

For 16-bit words the sums are exact integers in any order of addition; ``arithmetic.fixed.exact``
asserts this. The float64 reference in ``float_twin`` uses them with other numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from merp.models.arithmetic.compiled import Values
from merp.models.machines.mac_array.params.array_pass import ArrayPass

AT_ONCE = 1 << 23
"""Most float64 elements in memory together; a batch is split into parts that stay within it."""


def parts(of: ArrayPass, images: int) -> Iterator[slice]:
    """Split a batch into parts whose windows and gradients have at most ``AT_ONCE`` elements."""
    windows = of.out_rows * of.out_columns * of.inputs * of.taps
    step = max(1, AT_ONCE // max(windows, of.outputs * of.inputs * of.taps))
    for low in range(0, images, step):
        yield slice(low, low + step)


def _windows(maps: Values, of: ArrayPass) -> Values:
    """Return the input elements of every sum: (images, out_rows * out_columns, n * k * k)."""
    padded = np.pad(maps, ((0, 0), (of.pad, of.pad), (of.pad, of.pad), (0, 0)))
    windows = sliding_window_view(padded, (of.kernel, of.kernel), (1, 2))
    windows = windows[:, :: of.stride, :: of.stride]
    return windows.reshape(len(maps), of.out_rows * of.out_columns, -1)


def forward_sums(of: ArrayPass, maps: Values, kernels: Values) -> Values:
    """Calculate the sums of FP: (images, out_rows, out_columns, m).

    maps: (images, rows, columns, n). kernels: (m, n, k, k).
    """
    by_tap = kernels.reshape(len(kernels), -1).T
    sums = np.empty((len(maps), of.out_rows * of.out_columns, len(kernels)))
    for part in parts(of, len(maps)):
        sums[part] = _windows(maps[part], of) @ by_tap
    return sums.reshape(len(maps), of.out_rows, of.out_columns, -1)


def delta_sums(of: ArrayPass, deltas: Values, kernels: Values) -> Values:
    """Calculate the sums of DP: (images, rows, columns, n).

    deltas: (images, out_rows, out_columns, m). kernels: (m, n, k, k).
    """
    m, n, k, _ = kernels.shape
    sums = np.zeros((len(deltas), of.rows + 2 * of.pad, of.columns + 2 * of.pad, n))
    down, across = (of.out_rows - 1) * of.stride + 1, (of.out_columns - 1) * of.stride + 1
    for part in parts(of, len(deltas)):
        spread = deltas[part].reshape(-1, m) @ kernels.reshape(m, -1)
        spread = spread.reshape(-1, of.out_rows, of.out_columns, n, k, k)
        reached = sums[part]
        for row in range(k):
            for column in range(k):
                there = slice(row, row + down, of.stride), slice(column, column + across, of.stride)
                reached[:, *there] += spread[..., row, column]
    return sums[:, of.pad : of.pad + of.rows, of.pad : of.pad + of.columns]


def gradient_sums(of: ArrayPass, maps: Values, deltas: Values) -> Values:
    """Calculate the sums of KU for each image: (images, m, n, k, k).

    maps: (images, rows, columns, n). deltas: (images, out_rows, out_columns, m).
    """
    images, m = len(deltas), deltas.shape[-1]
    sums = deltas.reshape(images, -1, m).swapaxes(1, 2) @ _windows(maps, of)
    return sums.reshape(images, m, -1, of.kernel, of.kernel)
