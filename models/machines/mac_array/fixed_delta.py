"""Golden delta propagation in fixed point: un-pooling, sums, rounding, and the ReLU mask."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from merp.models.arithmetic.fixed import Words, exact, nearest_even, saturated
from merp.models.machines.mac_array.fixed_forward import Mask, Numbers, Places
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.products import delta_sums


class ArrayDeltas(NamedTuple):
    """Deltas of a layer's input maps, and the number of saturated ones before the mask."""

    maps: Words
    clipped: int


def expanded(of: ArrayPass, deltas: Numbers, places: Places) -> Numbers:
    """Calculate the deltas of the sums from the deltas of the pooled outputs.

    Each delta is placed at the position of its window's maximum. All other positions are 0. This
    includes rows and columns that fill no window.

    Args:
        of: the pass of the array, which has the sizes of the layer.
        deltas: deltas of the pooled outputs, (images, pooled_rows, pooled_columns, m).
        places: positions of the maxima in their windows, of the same shape.

    Returns:
        (images, out_rows, out_columns, m).
    """
    if of.pool == 1:
        return deltas
    images, rows, columns, count = deltas.shape
    split = np.zeros((images, rows, columns, count, of.pool**2), deltas.dtype)
    np.put_along_axis(split, places[..., np.newaxis].astype(np.int64), deltas[..., np.newaxis], -1)
    split = split.reshape(images, rows, columns, count, of.pool, of.pool)
    whole = split.transpose(0, 1, 4, 2, 5, 3).reshape(
        images, rows * of.pool, columns * of.pool, count
    )
    found = np.zeros((images, of.out_rows, of.out_columns, count), deltas.dtype)
    found[:, : rows * of.pool, : columns * of.pool] = whole
    return found


def delta(of: ArrayPass, deltas: Words, kernels: Words, mask: Mask) -> ArrayDeltas:
    """Run DP of a layer.

    Args:
        of: the pass of the array, which has the sizes of the layer.
        deltas: deltas of the sums, (images, out_rows, out_columns, m).
        kernels: (m, n, k, k).
        mask: ReLU mask of the input maps, (images, rows, columns, n).

    Raises:
        OverflowError: a sum does not fit 48 bits.
    """
    sums = exact(delta_sums(of, deltas.astype(np.float64), kernels.astype(np.float64)))
    words, clipped = saturated(nearest_even(sums, of.shift))
    return ArrayDeltas(np.where(mask, words, np.int16(0)), clipped)
