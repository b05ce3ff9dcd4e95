"""Arguments of the library, checked where they come in: one line, as from the command line."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any

from merp.models.errors import BadInput, shown
from merp.models.params.formats import FloatFormat

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from merp.models.params.bits import Bits


def one_of(name: str, value: object, allowed: Iterable[str]) -> str:
    """``value``, if it is one of the words that are allowed.

    Raises:
        BadInput: it is not.
    """
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        raise BadInput(f"{name} = {shown(value)}: allowed are {', '.join(words)}")
    return value


def whole_number(name: str, value: Any, low: int, high: int) -> int:
    """``value`` as an int, if it is a whole number from ``low`` to ``high``.

    Raises:
        BadInput: it is not.
    """
    complaint = f"{name} = {shown(value)}: must be a whole number from {low} to {high}"
    try:
        number = operator.index(value)
    except TypeError as error:
        raise BadInput(complaint) from error
    if isinstance(value, bool) or not low <= number <= high:
        raise BadInput(complaint)
    return number


def positive(name: str, value: Any) -> float:
    """``value`` as a float, if it is a finite number above 0.

    Raises:
        BadInput: it is not.
    """
    number = float(value) if isinstance(value, Real) else math.nan
    if isinstance(value, bool) or not 0 < number < math.inf:
        raise BadInput(f"{name} = {shown(value)}: must be a number above 0")
    return number


def flag(name: str, value: object) -> bool:
    """``value``, if it is a bool.

    Raises:
        BadInput: it is not.
    """
    if not isinstance(value, bool):
        raise BadInput(f"{name} = {shown(value)}: allowed are True, False")
    return value


def words(name: str, value: ArrayLike, size: tuple[int | None, ...], fmt: FloatFormat) -> Bits:
    """An array of ``size``, numbers or ``uint32`` words, as words; None is any length above 0.

    Raises:
        BadInput: no such array, or ``given_words`` refuses it.
    """
    import numpy as np  # slow imports wait

    from merp.tools.common.given_words import given_words

    said = ", ".join("images" if length is None else str(length) for length in size)
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise BadInput(f"{name}: no array of numbers: allowed is size ({said})") from error
    fits = array.ndim == len(size) and all(
        found == wanted if wanted is not None else found > 0
        for found, wanted in zip(array.shape, size, strict=True)
    )
    if not fits:
        raise BadInput(f"{name}: size {array.shape}: allowed is ({said})")
    return given_words(name, array, fmt)
