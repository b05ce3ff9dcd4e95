"""Convert numbers of a user to words of a format."""

from __future__ import annotations

import numpy as np

from merp.models.arithmetic.compiled import Values
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.tools.common.given_numbers import refuse_first


def finite_words(where: str, numbers: Values, fmt: FloatFormat) -> Bits:
    """Return the numbers as words of the format, rounded, in any shape.

    ``where`` starts the error message: file and key.

    Raises:
        BadInput: a number is infinite, NaN or too large for the format. It names the first one.
    """
    words = to_bits(numbers, fmt)
    unusable = ~np.isfinite(to_values(words, fmt))
    refuse_first(where, numbers, unusable, "finite numbers that the network's format holds")
    return words
