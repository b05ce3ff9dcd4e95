"""Golden ReLU."""

from __future__ import annotations

import numpy as np

from merp.models.arithmetic.words import to_values
from merp.models.params.bits import Bits
from merp.models.params.formats import FloatFormat


def relu(x: Bits, fmt: FloatFormat) -> Bits:
    """Keep positive words, turn all others into +0; NaN passes, canonical."""
    values = to_values(x, fmt)
    positive = np.where(values > 0, x, 0)
    return np.where(np.isnan(values), fmt.nan, positive).astype(np.uint32)
