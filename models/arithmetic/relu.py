"""Golden models of ReLU and of ReLU6, which also stops at 6."""

from __future__ import annotations

import numpy as np

from merp.models.arithmetic.maxima import positive
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
