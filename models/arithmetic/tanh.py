"""Golden models of tanh, and of the factor that its derivative gives a delta, in binary32.

F-CNN, section II: sigma is tanh, and sigma'(z) = 1 - tanh(z)^2 = (1 - y) (1 + y).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.tanh_table import (
    GUARD,
    HIGHEST,
    LOWEST,
    OFFSET_BITS,
    SCALE,
    SEGMENT_BITS,
    check_format,
    tanh_table,
)


@cache
def _coefficients() -> tuple[NDArray[np.int64], ...]:
    """Return c0, c1 and c2 of every segment as arrays."""
    return tuple(np.array(each, np.int64) for each in tanh_table())


def tanh(x: ArrayLike, fmt: FloatFormat) -> Bits:
    """Return tanh of words, any shape.

    The result is within 0.65 ulp of tanh, and it never decreases with x. A number below 2^-12, and
    a zero, is returned as it is; a subnormal becomes a signed zero. A NaN becomes the canonical
    NaN.

    Raises:
        ValueError: the format is not binary32.
    """
    check_format(fmt)
    words = np.asarray(x, np.uint32).astype(np.int64)
    size = words & (fmt.sign_bit - 1)
    least = (fmt.bias + LOWEST) << fmt.frac_bits
    end = (fmt.bias + HIGHEST + 1) << fmt.frac_bits
    found = np.where(size < 1 << fmt.frac_bits, 0, size)
    found = np.where(size >= least, _polynomial(np.clip(size, least, end - 1), fmt), found)
    found = np.where(size >= end, fmt.one, found) | (words & fmt.sign_bit)
    return np.where(size > fmt.inf, fmt.nan, found).astype(np.uint32)


def _polynomial(size: NDArray[np.int64], fmt: FloatFormat) -> NDArray[np.int64]:
    """Return tanh of positive words between 2^LOWEST and 2^(HIGHEST + 1): truncated, then rounded
    once.
    """
    segment = (size >> OFFSET_BITS) - ((fmt.bias + LOWEST) << SEGMENT_BITS)
    place = size & ((1 << OFFSET_BITS) - 1)
    c0, c1, c2 = (each[segment] for each in _coefficients())
    slope = (c1 << GUARD) - (c2 * place >> (OFFSET_BITS - GUARD))
    value = c0 + (slope * place >> (OFFSET_BITS + GUARD))
    # A value is from 1/2 to 2, so its exponent is that of its octave or one less.
    exponent = np.minimum((size >> fmt.frac_bits) - fmt.bias, 0) + fmt.bias
    above = value >> SCALE
    normal = value << (1 - above)  # from 1 to 2
    word = (exponent - 2 + above << SCALE) + normal  # its leading 1 counts in the exponent
    lost = SCALE - fmt.frac_bits
    return (word + (1 << lost - 1) - 1 + (word >> lost & 1)) >> lost


def tanh_slope(y: ArrayLike, fmt: FloatFormat) -> Bits:
    """Return RN(RN(1 - y) * RN(1 + y)) of words y = tanh(z), any shape.

    Three roundings: the error is at most 3.01 * 2^-24 of 1 - y^2.

    Raises:
        ValueError: the format is not binary32.
    """
    check_format(fmt)
    words = np.asarray(y, np.uint32)
    one = np.uint32(fmt.one)
    return fp_mul(fp_add(one, words ^ np.uint32(fmt.sign_bit), fmt), fp_add(one, words, fmt), fmt)


def through_tanh(delta: ArrayLike, y: ArrayLike, fmt: FloatFormat) -> Bits:
    """Return RN(delta * tanh_slope(y)): the delta of z from the delta of y = tanh(z).

    Raises:
        ValueError: the format is not binary32.
    """
    return fp_mul(delta, tanh_slope(y, fmt), fmt)
