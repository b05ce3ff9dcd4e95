"""Golden pooling over windows that may overlap (CNN-MERP section IV.F); partial windows drop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.maxima import maxima
from merp.models.arithmetic.words import to_bits
from merp.models.params.bits import Bits
from merp.models.params.formats import FloatFormat
from merp.models.params.shape import Pool


def pool_elements(x: NDArray[Any], window: int, stride: int) -> Iterator[NDArray[Any]]:
    """Element j of every window for j in raster order, each (images, rows, columns, maps)."""
    rows, columns = _windows(x, window, stride)
    for row in range(window):
        for column in range(window):
            yield x[
                :,
                row : row + (rows - 1) * stride + 1 : stride,
                column : column + (columns - 1) * stride + 1 : stride,
            ]


def _windows(x: NDArray[Any], window: int, stride: int) -> tuple[int, int]:
    """Rows and columns of windows."""
    pool = Pool(window=window, stride=stride)
    rows, columns = (pool.size(side) for side in x.shape[1:3])
    if rows < 1 or columns < 1:
        raise ValueError(f"a window of {window} does not fit {x.shape[1]} x {x.shape[2]}")
    return rows, columns


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
    """The largest element of each window, canonical, and its position, row * window + column.

    Raises:
        ValueError: no window fits.
    """
    size = len(x), *_windows(x, window, stride), x.shape[3]
    found, position = np.empty(size, np.uint32), np.empty(size, np.uint32)
    words = np.ascontiguousarray(x, np.uint32)
    least, sign = 1 << fmt.frac_bits, fmt.sign_bit
    maxima(words, window, stride, least, fmt.inf, sign, fmt.nan, found, position)
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
