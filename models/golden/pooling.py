"""Golden model of pooling; windows may overlap, and extend beyond the map (CNN-MERP section
IV.F).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.maxima import FormatWords, maxima
from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Pool, sides


def padding(pool: Pool) -> list[tuple[int, int]]:
    """Return the padding before and after each axis of (images, rows, columns, maps), for numpy's
    pad.
    """
    top, left, bottom, right = sides(pool.pad)
    return [(0, 0), (top, bottom), (left, right), (0, 0)]


def pool_elements(padded: NDArray[Any], pool: Pool) -> Iterator[NDArray[Any]]:
    """Yield element j of every window for j in raster order, each (images, rows, columns, maps)."""
    inside = replace(pool, pad=0)
    rows, columns = inside.rows(padded.shape[1]), inside.columns(padded.shape[2])
    for row in range(pool.window):
        for column in range(pool.window):
            yield padded[
                :,
                row : row + (rows - 1) * pool.stride + 1 : pool.stride,
                column : column + (columns - 1) * pool.stride + 1 : pool.stride,
            ]


def _windows(x: NDArray[Any], pool: Pool) -> tuple[int, int]:
    """Return the rows and columns of windows."""
    rows, columns = pool.rows(x.shape[1]), pool.columns(x.shape[2])
    if rows < 1 or columns < 1:
        raise ValueError(f"a window of {pool.window} does not fit {x.shape[1]} x {x.shape[2]}")
    return rows, columns


def pool_maps(x: Bits, pool: Pool | None, fmt: FloatFormat) -> Bits:
    """Pool maps (images, rows, columns, maps) by a layer's ``pool``; None leaves them unchanged.

    Raises:
        ValueError: no window fits.
    """
    if pool is None:
        return x
    kind = max_pool if pool.kind == "max" else average_pool
    return kind(x, pool, fmt)


def max_pool(x: Bits, pool: Pool, fmt: FloatFormat) -> Bits:
    """Return the largest element of each window: (images, rows, columns, maps) words.

    The first in raster order wins ties, where -0 equals +0. NaN wins over everything. A subnormal
    is compared and returned as a signed zero.

    Raises:
        ValueError: no window fits.
    """
    return largest(x, pool, fmt)[0]


def largest(x: Bits, pool: Pool, fmt: FloatFormat) -> tuple[Bits, Bits]:
    """Return the largest element of each window, canonical, and its position, row * window +
    column.

    Rows and columns are those of the whole window, including its part outside the map.

    Raises:
        ValueError: no window fits.
    """
    size = len(x), *_windows(x, pool), x.shape[3]
    found, position = np.empty(size, np.uint32), np.empty(size, np.uint32)
    words = np.ascontiguousarray(x, np.uint32)
    numbers = FormatWords(1 << fmt.frac_bits, fmt.inf, fmt.sign_bit, fmt.nan)
    maxima(words, pool.window, pool.stride, pool.top, pool.left, numbers, found, position)
    return found, position


def average_pool(x: Bits, pool: Pool, fmt: FloatFormat) -> Bits:
    """Average each window: its sum in raster order, from the first element, times RN(1/window^2).

    Places outside the map add nothing: they are -0, because -0 plus a number is the number.

    1/window^2 in binary64 rounds into the format like the exact quotient. The reason: let q be the
    quotient of 1 by a number below 2^9. If q is not a midpoint of 24 bits, its relative distance to
    one is at least 2^-34. The error of binary64 is within 2^-53.

    Raises:
        ValueError: no window fits.
    """
    _windows(x, pool)
    elements = pool_elements(np.pad(x, padding(pool), constant_values=fmt.sign_bit), pool)
    total = next(elements)
    for element in elements:
        total = fp_add(total, element, fmt)
    return fp_mul(total, to_bits(1.0 / pool.window**2, fmt), fmt)
