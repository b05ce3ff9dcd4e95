"""Golden pooling over windows that may overlap (CNN-MERP section IV.F); partial windows drop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.words import canonical, to_bits
from merp.models.params.bits import Bits
from merp.models.params.formats import FloatFormat
from merp.models.params.shape import Pool


def pool_elements(x: NDArray[Any], window: int, stride: int) -> Iterator[NDArray[Any]]:
    """Element j of every window for j in raster order, each (images, rows, columns, maps)."""
    pool = Pool(window=window, stride=stride)
    rows, columns = (pool.size(side) for side in x.shape[1:3])
    if rows < 1 or columns < 1:
        raise ValueError(f"a window of {window} does not fit {x.shape[1]} x {x.shape[2]}")
    for row in range(window):
        for column in range(window):
            yield x[
                :,
                row : row + (rows - 1) * stride + 1 : stride,
                column : column + (columns - 1) * stride + 1 : stride,
            ]


def pool_maps(x: Bits, pool: Pool | None, fmt: FloatFormat) -> Bits:
    """Pool maps (images, rows, columns, maps) as a layer's ``pool`` says; None leaves them.

    Raises:
        ValueError: no window fits.
    """
    if pool is None:
        return x
    kind = max_pool if pool.kind == "max" else average_pool
    return kind(x, pool.window, pool.stride, fmt)


def max_pool(x: Bits, window: int, stride: int, fmt: FloatFormat) -> Bits:
    """Take the largest element of each window: (images, rows, columns, maps) words.

    The first in raster order wins ties, where -0 equals +0; NaN wins over everything. A subnormal
    counts and leaves as a signed zero.

    Raises:
        ValueError: no window fits.
    """
    return largest(x, window, stride, fmt)[0]


def largest(x: Bits, window: int, stride: int, fmt: FloatFormat) -> tuple[Bits, Bits]:
    """The largest element of each window, canonical, and its position, row * window + column."""
    words = canonical(x, fmt)
    # In the order of the numbers, as whole numbers: both zeros are 0, NaN is above infinity.
    magnitudes = (words & np.uint32(fmt.sign_bit - 1)).astype(np.int32)
    ranks = np.where(words & np.uint32(fmt.sign_bit), -magnitudes, magnitudes)
    elements = zip(
        pool_elements(words, window, stride), pool_elements(ranks, window, stride), strict=True
    )
    found, highest = next(elements)
    position = np.zeros(found.shape, np.uint32)
    for tap, (element, rank) in enumerate(elements, start=1):
        wins = rank > highest
        found = np.where(wins, element, found)
        highest = np.maximum(rank, highest)
        position = np.where(wins, np.uint32(tap), position)
    return found, position


def average_pool(x: Bits, window: int, stride: int, fmt: FloatFormat) -> Bits:
    """Average each window: its sum in raster order, from the first element, times RN(1/window^2).

    1/window^2 in binary64 rounds into the format as the exact quotient does: the quotient of 1 by
    a number below 2^9 is no closer than 2^-34 (relative) to a midpoint of 24 bits, unless it is
    one, and binary64 is within 2^-53.

    Raises:
        ValueError: no window fits.
    """
    elements = pool_elements(x, window, stride)
    total = next(elements)
    for element in elements:
        total = fp_add(total, element, fmt)
    return fp_mul(total, to_bits(1.0 / window**2, fmt), fmt)
