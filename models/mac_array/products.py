"""The three sums of products of a convolution, as products of float64 matrices.

Of words they are exact integers, whatever the order, as ``arithmetic.fixed.exact`` asserts; of
other numbers they are those of the float64 twin.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from merp.models.arithmetic.compiled import Values
from merp.models.params.mac_array.array_pass import ArrayPass


def _windows(maps: Values, of: ArrayPass) -> Values:
    """Input elements of every sum: (images, out_rows * out_columns, n * k * k), maps first."""
    padded = np.pad(maps, ((0, 0), (of.pad, of.pad), (of.pad, of.pad), (0, 0)))
    windows = sliding_window_view(padded, (of.kernel, of.kernel), (1, 2))
    windows = windows[:, :: of.stride, :: of.stride]
    return windows.reshape(len(maps), of.out_rows * of.out_columns, -1)


def forward_sums(of: ArrayPass, maps: Values, kernels: Values) -> Values:
    """Sums of FP: (images, out_rows, out_columns, m).

    maps: (images, rows, columns, n). kernels: (m, n, k, k).
    """
    sums = _windows(maps, of) @ kernels.reshape(len(kernels), -1).T
    return sums.reshape(len(maps), of.out_rows, of.out_columns, -1)


def delta_sums(of: ArrayPass, deltas: Values, kernels: Values) -> Values:
    """Sums of DP: (images, rows, columns, n).

    deltas: (images, out_rows, out_columns, m). kernels: (m, n, k, k).
    """
    images, (m, n, k, _) = len(deltas), kernels.shape
    spread = deltas.reshape(images, -1, m) @ kernels.reshape(m, -1)
    spread = spread.reshape(images, of.out_rows, of.out_columns, n, k, k)
    size = images, of.rows + 2 * of.pad, of.columns + 2 * of.pad, n
    sums = np.zeros(size)
    down, across = (of.out_rows - 1) * of.stride + 1, (of.out_columns - 1) * of.stride + 1
    for row in range(k):
        for column in range(k):
            reached = sums[:, row : row + down : of.stride, column : column + across : of.stride]
            reached += spread[..., row, column]
    return sums[:, of.pad : of.pad + of.rows, of.pad : of.pad + of.columns]


def gradient_sums(of: ArrayPass, maps: Values, deltas: Values) -> Values:
    """Sums of KU of each image: (images, m, n, k, k). Arguments as above."""
    images, m = len(deltas), deltas.shape[-1]
    sums = deltas.reshape(images, -1, m).swapaxes(1, 2) @ _windows(maps, of)
    return sums.reshape(images, m, -1, of.kernel, of.kernel)
