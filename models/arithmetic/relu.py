"""Golden models of ReLU, of ReLU6, which also stops at 6, and of leaky ReLU."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.maxima import positive
from merp.models.arithmetic.words import is_positive
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.six import six_word


def relu(x: Bits, fmt: FloatFormat) -> Bits:
    """Keep positive words and replace all others by +0; a NaN becomes the canonical NaN."""
    words = np.ascontiguousarray(x, np.uint32)
    result = np.empty_like(words)
    least, magnitude = 1 << fmt.frac_bits, fmt.sign_bit - 1
    positive(words.reshape(-1), least, fmt.inf, magnitude, fmt.nan, result.reshape(-1))
    return result


def relu6(x: Bits, fmt: FloatFormat) -> Bits:
    """Return ``relu`` of each word, but 6 for every number above 6; a NaN stays a NaN."""
    rectified = relu(x, fmt)
    six = np.uint32(six_word(fmt))
    # No word of a rectified array is negative, so only a NaN is above infinity.
    rectified[(rectified > six) & (rectified <= np.uint32(fmt.inf))] = six
    return rectified


def leaky_relu(x: Bits, slope: int, fmt: FloatFormat) -> Bits:
    """Keep positive words and replace all others by RN(x * slope); ``slope`` is a word.

    A NaN is not positive, so it becomes the canonical NaN.
    """
    return leaked(x, is_positive(np.asarray(x, np.uint32), fmt), slope, fmt)


def leaked(words: Bits, mask: NDArray[np.bool_], slope: int, fmt: FloatFormat) -> Bits:
    """Keep the words whose mask is set, and multiply all others by the word ``slope``."""
    products = fp_mul(words, np.uint32(slope), fmt)
    return np.where(mask, np.asarray(words, np.uint32), products)
