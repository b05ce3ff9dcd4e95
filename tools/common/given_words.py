"""Convert arrays of a user, of numbers or of words, to words of a format."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.words import to_values
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.formats import FloatFormat
from merp.tools.common.finite_words import finite_words
from merp.tools.common.given_numbers import given_numbers, refuse_rounded


def given_words(where: str, array: NDArray[np.generic], fmt: FloatFormat) -> Bits:
    """Return numbers as words of the format: floating-point ones rounded, the others exactly.

    ``uint32`` words of the format are kept as they are. ``where`` starts the error message: file
    and key, or the argument.

    Raises:
        BadInput: an array without numbers, a number that the format does not hold, or a word that
            is wider than the format.
    """
    if array.dtype.kind != "u" or array.dtype.itemsize != 4:
        numbers = given_numbers(where, array)
        words = finite_words(where, numbers, fmt)
        refuse_rounded(where, array, to_values(words, fmt))
        return words
    words = np.ascontiguousarray(array, np.uint32)
    wide = np.argwhere(words >> np.uint64(fmt.width))
    if wide.size:
        place = tuple(int(index) for index in wide[0])
        raise BadInput(
            f"{where}[{', '.join(map(str, place))}] = {int(words[place]):#x}: allowed are words "
            f"of {fmt.width} bits"
        )
    return words
