"""Arrays that a user gave, of numbers or of words, as words of a format."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merp.models.errors import BadInput
from merp.models.params.bits import Bits
from merp.models.params.formats import FloatFormat
from merp.tools.common.finite_words import finite_words


def given_words(where: str, array: NDArray[np.generic], fmt: FloatFormat) -> Bits:
    """Floating-point numbers rounded into the format; ``uint32`` words of it as they are.

    ``where`` opens the complaint: file and key, or the argument.

    Raises:
        BadInput: another type, a number that the format does not hold, or a word that is wider
            than the format.
    """
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return finite_words(where, array.astype(np.float64), fmt)
    if array.dtype.kind != "u" or array.dtype.itemsize != 4:
        raise BadInput(
            f"{where}: type {array.dtype}: allowed are float16, float32, float64 (numbers) and "
            "uint32 (words)"
        )
    words = np.ascontiguousarray(array, np.uint32)
    wide = np.argwhere(words >> np.uint64(fmt.width))
    if wide.size:
        place = tuple(int(index) for index in wide[0])
        raise BadInput(
            f"{where}[{', '.join(map(str, place))}] = {int(words[place]):#x}: allowed are words "
            f"of {fmt.width} bits"
        )
    return words
