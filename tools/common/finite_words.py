"""Numbers that a user gave, as words of a format that hold them."""

from __future__ import annotations

import numpy as np

from merp.models.arithmetic.compiled import Values
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.tools.common.given_numbers import refuse_first


def finite_words(where: str, numbers: Values, fmt: FloatFormat) -> Bits:
    """Numbers rounded into the format, any shape.

    ``where`` opens the complaint: file and key.

    Raises:
        BadInput: names the first that is infinite or NaN, or too large for the format.
    """
    words = to_bits(numbers, fmt)
    unusable = ~np.isfinite(to_values(words, fmt))
    refuse_first(where, numbers, unusable, "finite numbers that the network's format holds")
    return words
