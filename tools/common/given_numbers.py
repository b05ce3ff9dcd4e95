"""Convert arrays of numbers of a user to binary64, without a change of value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.compiled import Values
from merp.models.base.errors import BadInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

NUMBERS = "biuf"
"""Kinds of types that are numbers: booleans, whole numbers, floating point."""

Wrong = NDArray[np.bool_]


def given_array(where: str, value: ArrayLike) -> NDArray[np.generic]:
    """Return the array of a user; ``where`` starts the error message.

    Raises:
        BadInput: its rows have different lengths.
    """
    try:
        return np.asarray(value)
    except ValueError as error:
        raise BadInput(f"{where}: no array of numbers") from error


def given_numbers(where: str, array: NDArray[np.generic]) -> Values:
    """Return the numbers of an array, of any shape, exactly.

    ``where`` starts the error message: file and key, or the argument.

    Raises:
        BadInput: another type (complex, text, Python objects), or a number that binary64 does not
            hold. It names the first one.
    """
    check_numbers(where, array)
    found = array.astype(np.float64)
    if array.dtype.itemsize > np.dtype(np.float64).itemsize:
        refuse_first(where, array, (found != array) & (array == array), "numbers of binary64")
    elif array.dtype.kind in "iu" and array.dtype.itemsize == np.dtype(np.float64).itemsize:
        size = np.abs(array).astype(np.uint64)  # also correct for the least int64, whose abs wraps
        lowest = size & (~size + np.uint64(1))
        long = size // np.maximum(lowest, np.uint64(1)) >= np.uint64(1 << 53)
        refuse_first(where, array, long, "whole numbers of at most 53 significant bits")
    return found


def check_numbers(where: str, array: NDArray[np.generic]) -> None:
    """Refuse an array of another type than numbers.

    Raises:
        BadInput: the type is complex, text or Python objects.
    """
    if array.dtype.kind not in NUMBERS:
        raise BadInput(f"{where}: type {array.dtype}: allowed are numbers")


def whole_numbers(where: str, array: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return the whole numbers of an array, of any shape and type.

    Raises:
        BadInput: ``given_numbers`` refuses the array, or a number is not whole.
    """
    found = given_numbers(where, array)
    wrong = ~((found == np.rint(found)) & (np.abs(found) < 2.0**63))
    refuse_first(where, array, wrong, "whole numbers")
    return found.astype(np.int64)


def refuse_rounded(where: str, array: NDArray[np.generic], kept: Values) -> None:
    """Refuse a whole number or boolean that a format rounds; floating point may be rounded.

    Args:
        where: start of the error message.
        array: the numbers.
        kept: the same numbers after rounding to the format.

    Raises:
        BadInput: a whole number was rounded. It names the first one.
    """
    if array.dtype.kind != "f":
        said = "whole numbers that the network's format holds"
        refuse_first(where, array, kept != array.astype(np.float64), said)


def refuse_first(where: str, array: NDArray[np.generic], wrong: Wrong, allowed: str) -> None:
    """Refuse the first number that is ``wrong``.

    Raises:
        BadInput: a number is wrong. It names the place, the number and the allowed numbers.
    """
    if wrong.any():
        place = tuple(int(index) for index in np.argwhere(wrong)[0])
        raise BadInput(
            f"{where}[{', '.join(map(str, place))}] = {array[place]}: allowed are {allowed}"
        )
