"""The compiled part of the golden models of max pooling and ReLU: comparisons without arithmetic.

Words have formats of at most 32 bits. A subnormal is compared and output as a signed zero. A NaN is
output as the NaN of the format. Like ``compiled``, this file is compiled separately: no function
calls a function of another file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from merp.models.base.bits import Bits
from merp.models.base.compiled_code import compiled, prange


class FormatWords(NamedTuple):
    """Words of a format: its smallest normal number, infinity, -0 and NaN."""

    least: int
    inf: int
    sign: int
    nan: int


def _elements(
    x: Bits, window: int, stride: int, top: int, left: int, numbers: FormatWords, found: Bits,
    position: Bits,
) -> int:  # fmt: skip
    return found.size * window * window


@compiled(_elements, parallel=True)
def maxima(
    x: Bits,
    window: int,
    stride: int,
    top: int,
    left: int,
    numbers: FormatWords,
    found: Bits,
    position: Bits,
) -> None:
    """Find the largest element of each window and its place in raster order, the first of equals.

    Places outside the map are not elements of the window, but they are counted.

    Args:
        x: (images, rows, columns, maps) words.
        top, left: rows and columns of the first windows that lie outside.
        numbers: words of the format.
        found, position: arrays to be filled, of the size of the result, (images, rows, columns,
            maps).
    """
    least, inf, sign, nan = numbers
    images, rows, columns, maps = found.shape
    for place in prange(images * rows):
        image, row = place // rows, place % rows
        highest = np.empty(maps, np.int32)
        for column in range(columns):
            first = True
            for tap in range(window * window):
                y = row * stride - top + tap // window
                z = column * stride - left + tap % window
                if not (0 <= y < x.shape[1] and 0 <= z < x.shape[2]):
                    continue
                for j in range(maps):
                    word = x[image, y, z, j]
                    size = word & np.uint32(sign - 1)
                    size = size if size >= np.uint32(least) else np.uint32(0)
                    own = size | (word & np.uint32(sign))
                    own = own if size <= np.uint32(inf) else np.uint32(nan)
                    # Integers in the order of the numbers: both zeros are 0.
                    rank = np.int32(own & np.uint32(sign - 1))
                    rank = -rank if own & np.uint32(sign) else rank
                    wins = first or rank > highest[j]
                    highest[j] = rank if wins else highest[j]
                    found[image, row, column, j] = own if wins else found[image, row, column, j]
                    position[image, row, column, j] = (
                        np.uint32(tap) if wins else position[image, row, column, j]
                    )
                first = False


@compiled(lambda x, least, inf, magnitude, nan, result: x.size)
def positive(x: Bits, least: int, inf: int, magnitude: int, nan: int, result: Bits) -> None:
    """Copy positive words; write NaN for a NaN and +0 for all others. ``x`` is flat."""
    for at in range(x.size):
        word = x[at]
        passed = word if np.uint32(least) <= word <= np.uint32(inf) else np.uint32(0)
        is_nan = (word & np.uint32(magnitude)) > np.uint32(inf)
        result[at] = np.uint32(nan) if is_nan else passed
