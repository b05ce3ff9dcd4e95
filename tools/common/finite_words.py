"""Numbers that a user gave, as words of a format that hold them."""

from __future__ import annotations

import numpy as np

from merp.models.arithmetic.compiled import Values
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.errors import BadInput
from merp.models.params.bits import Bits
from merp.models.params.formats import FloatFormat


def finite_words(where: str, numbers: Values, fmt: FloatFormat) -> Bits:
    """Numbers rounded into the format, any shape.

    ``where`` opens the complaint: file and key.

    Raises:
        BadInput: names the first that is infinite or NaN, or too large for the format.
    """
    words = to_bits(numbers, fmt)
    unusable = np.argwhere(~np.isfinite(to_values(words, fmt)))
    if unusable.size:
        place = tuple(int(index) for index in unusable[0])
        raise BadInput(
            f"{where}[{', '.join(map(str, place))}] = {numbers[place]}: allowed are finite "
            "numbers that the network's format holds"
        )
    return words
