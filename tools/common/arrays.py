"""Arrays of a user's ``.npz`` file, and their numbers as words."""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.compiled import Values
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.errors import BadInput
from merp.models.params.bits import Bits
from merp.models.params.formats import FloatFormat


def read_arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    """Read every array of an ``.npz`` file.

    Raises:
        BadInput: it is not one, or holds Python objects.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except (OSError, EOFError, ValueError, BadZipFile, AttributeError) as error:
        reason = getattr(error, "strerror", None) or "allowed is an .npz file of arrays"
        raise BadInput(f"{path}: cannot be read: {reason}") from error


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
