"""Golden model of ReLU."""

from __future__ import annotations

import numpy as np

from merp.models.arithmetic.maxima import positive
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat


def relu(x: Bits, fmt: FloatFormat) -> Bits:
    """Keep positive words and replace all others by +0; a NaN becomes the canonical NaN."""
    words = np.ascontiguousarray(x, np.uint32)
    result = np.empty_like(words)
    least, magnitude = 1 << fmt.frac_bits, fmt.sign_bit - 1
    positive(words.reshape(-1), least, fmt.inf, magnitude, fmt.nan, result.reshape(-1))
    return result
