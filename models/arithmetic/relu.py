"""Golden ReLU."""

from __future__ import annotations

import numpy as np

from merp.models.arithmetic.words import is_nan, is_positive
from merp.models.params.bits import Bits
from merp.models.params.formats import FloatFormat


def relu(x: Bits, fmt: FloatFormat) -> Bits:
    """Keep positive words, turn all others into +0; NaN passes, canonical."""
    result = np.where(is_positive(x, fmt), x, np.uint32(0))
    nan = is_nan(x, fmt)
    if nan.any():
        result[nan] = fmt.nan
    return result
