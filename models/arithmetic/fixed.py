"""Fixed point of 16 bits: rounding to nearest even, saturation, and rounding of products.

A word is an integer in two's complement. Its value is word * 2^-fraction. Sums of products are
exact: int64 holds every sum of 48 bits, even after the largest left shift that the registers allow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.compiled import Values

Words = NDArray[np.int16]
Sums = NDArray[np.int64]

LEAST, MOST = -(1 << 15), (1 << 15) - 1
SUM_LIMIT = 1 << 47
"""The magnitude of every sum stays below this limit, so that 48 bits hold the sum."""


class SaturatedWords(NamedTuple):
    """Words, and the number of words that were clipped."""

    words: Words
    clipped: int


def nearest_even(sums: Sums, shift: int) -> Sums:
    """Return sums * 2^-shift, rounded to nearest even; a negative shift moves left and is exact."""
    if shift <= 0:
        return sums << -shift
    floor = sums >> shift
    rest = sums - (floor << shift)
    half = 1 << (shift - 1)
    return floor + ((rest > half) | ((rest == half) & (floor & 1 == 1)))


def toward_zero(products: Sums, shift: int) -> Sums:
    """Return products * 2^-shift, truncated toward zero."""
    return np.sign(products) * (np.abs(products) >> shift)


def floor_shift(products: Sums, shift: int) -> Sums:
    """Return products * 2^-shift, rounded down; a negative shift moves left and is exact."""
    return products >> shift if shift > 0 else products << -shift


def saturated(sums: Sums) -> SaturatedWords:
    """Clip sums to words, and count the clipped sums."""
    words = np.clip(sums, LEAST, MOST)
    return SaturatedWords(words.astype(np.int16), int(np.count_nonzero(words != sums)))


def exact(sums: Values) -> Sums:
    """Convert a product of float64 matrices of words to integers.

    Raises:
        OverflowError: an element does not fit 48 bits, because the sum has too many terms.
    """
    if sums.size and not np.abs(sums).max() < SUM_LIMIT:
        raise OverflowError(f"a sum does not fit 48 bits: {np.abs(sums).max():.0f}")
    return sums.astype(np.int64)


def to_words(numbers: Values, fraction: int) -> SaturatedWords:
    """Round finite numbers to words, to nearest even."""
    scaled = np.rint(np.asarray(numbers, np.float64) * 2.0**fraction)
    words = np.clip(scaled, LEAST, MOST)
    return SaturatedWords(words.astype(np.int16), int(np.count_nonzero(words != scaled)))


def to_numbers(words: Words, fraction: int) -> Values:
    """Return the exact values of words."""
    return words.astype(np.float64) * 2.0**-fraction
