"""Golden forward propagation in fixed point: sums, rounding, ReLU and its mask, max-pooling.

Each sum is exact and is rounded once. ReLU, or ReLU6, and its mask apply to the rounded word.
source: CNN training accelerator (FPL 2019), sections III.C and III.E; rules in docs/formats.md
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.compiled import Values
from merp.models.arithmetic.fixed import Words, exact, nearest_even, saturated
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.products import forward_sums

Mask = NDArray[np.bool_]
Places = NDArray[np.uint8]
Numbers = TypeVar("Numbers", Words, Values)


class ArrayMaps(NamedTuple):
    """Results of FP of a layer.

    Attributes:
        sums: (images, out_rows, out_columns, m), after ReLU.
        maps: outputs after pooling.
        mask: whether an element of ``maps`` is above 0, and with ReLU6 below 6; all true without
            ReLU.
        places: position of each element of ``maps`` in its pooling window; all 0 without pooling.
        clipped: number of saturated sums.
    """

    sums: Words
    maps: Words
    mask: Mask
    places: Places
    clipped: int


def forward(of: ArrayPass, maps: Words, kernels: Words, biases: Words) -> ArrayMaps:
    """Run FP of a layer.

    Args:
        of: the pass of the array, which has the sizes of the layer.
        maps: (images, rows, columns, n).
        kernels: (m, n, k, k).
        biases: (m,).

    Raises:
        OverflowError: a sum does not fit 48 bits.
    """
    products = forward_sums(of, maps.astype(np.float64), kernels.astype(np.float64))
    sums = exact(products) + (biases.astype(np.int64) << of.bias_shift)
    words, clipped = saturated(nearest_even(sums, of.shift))
    if of.relu:
        words = np.maximum(words, np.int16(0))
    if of.stops:
        words = np.minimum(words, np.int16(of.limit))
    pooled, places = maxima(words, of.pool)
    mask = pooled > 0 if of.relu else np.ones(pooled.shape, np.bool_)
    if of.stops:
        mask &= pooled < of.limit
    return ArrayMaps(words, pooled, mask, places, clipped)


def windows(maps: Numbers, window: int) -> Numbers:
    """Return the elements of each window in raster order: (images, rows, columns, maps, window^2).

    Rows and columns that fill no window are dropped.
    """
    images, rows, columns, count = maps.shape
    rows, columns = rows // window, columns // window
    whole = maps[:, : rows * window, : columns * window]
    split = whole.reshape(images, rows, window, columns, window, count)
    return split.transpose(0, 1, 3, 5, 2, 4).reshape(images, rows, columns, count, -1)


def maxima(maps: Numbers, window: int) -> tuple[Numbers, Places]:
    """Pool (images, rows, columns, maps): return the maxima and their positions.

    A position is the raster index in the window. Comparison is signed. Of equal elements, the first
    is the maximum.
    """
    elements = windows(maps, window)
    places = elements.argmax(axis=-1)  # the first of equals
    found = np.take_along_axis(elements, places[..., np.newaxis], axis=-1)[..., 0]
    return found, places.astype(np.uint8)
