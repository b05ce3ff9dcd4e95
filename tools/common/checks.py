"""Checks of the arguments of the library. An error is one line, as on the command line."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import replace
from numbers import Real
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merp.models.base.errors import BadInput, shown
from merp.models.base.formats import FloatFormat
from merp.models.base.storage import Stores
from merp.models.network.network import Network
from merp.models.network.network_keys import BACKWARD

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from merp.models.base.bits import Bits


def one_of(name: str, value: object, allowed: Iterable[str]) -> str:
    """Return ``value`` if it is one of the allowed words.

    Raises:
        BadInput: it is not.
    """
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        raise BadInput(f"{name} = {shown(value)}: allowed are {', '.join(words)}")
    return value


def with_backward(network: Network, backward: object) -> Network:
    """Return the network with another ``backward``; None keeps its own.

    Raises:
        BadInput: ``backward`` is not an allowed word.
    """
    if backward is None:
        return network
    return replace(network, backward=one_of("backward", backward, BACKWARD.allowed))


def text(name: str, value: object) -> str:
    """Return ``value`` if it is text.

    Raises:
        BadInput: it is not.
    """
    if not isinstance(value, str):
        raise BadInput(f"{name} = {shown(value)}: allowed is text")
    return value


def whole_number(name: str, value: Any, low: int, high: int) -> int:
    """Return ``value`` as an int if it is a whole number from ``low`` to ``high``.

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


def number(name: str, value: Any, says: str, holds: Callable[[float], bool]) -> float:
    """Return ``value`` as a float if it is a number within limits.

    Args:
        name: of the argument, for messages.
        value: the argument.
        says: the limits, such as "a number of 0 or more".
        holds: returns whether a number is within the limits. It must refuse NaN, which represents
            every value that is not a number.

    Raises:
        BadInput: it is not.
    """
    found = _number(value)
    if not holds(found):
        raise BadInput(f"{name} = {shown(value)}: must be {says}")
    return found


def _number(value: Any) -> float:
    """Return ``value`` as a float, NaN if it is not a number."""
    plain = _plain(value)
    return float(plain) if isinstance(plain, Real) and not isinstance(plain, bool) else math.nan


def _plain(value: Any) -> Any:
    """Return ``value``; for a NumPy scalar or an array without dimensions, the Python number."""
    return value.item() if getattr(value, "shape", None) == () else value


def path(name: str, value: object) -> Path:
    """Return ``value`` as a path if it is text or a path of text.

    Raises:
        BadInput: it is not.
    """
    found = fspath(value) if isinstance(value, str | PathLike) else None
    if not isinstance(found, str):
        raise BadInput(f"{name} = {shown(value)}: allowed is a path")
    return Path(found)


def listener(name: str, value: Any) -> Callable[[str], object]:
    """Return ``value`` if it can be called.

    Raises:
        BadInput: it cannot.
    """
    if not callable(value):
        raise BadInput(f"{name} = {shown(value)}: allowed is a function of a text")
    found: Callable[[str], object] = value
    return found


def flag(name: str, value: object) -> bool:
    """Return ``value`` if it is a bool.

    Raises:
        BadInput: it is not.
    """
    plain = _plain(value)
    if not isinstance(plain, bool):
        raise BadInput(f"{name} = {shown(value)}: allowed are True, False")
    return plain


def input_words(name: str, value: ArrayLike, size: tuple[int | None, ...], stores: Stores) -> Bits:
    """Return the input of a layer, or the image, as words, if its storage format can hold it.

    Raises:
        BadInput: ``words`` or ``check_storable`` refuses it.
    """
    from merp.tools.common.storable import check_storable

    found = words(name, value, size, stores.fmt)
    check_storable(name, found, stores.fmt, stores.stored_input)
    return found


def words(name: str, value: ArrayLike, size: tuple[int | None, ...], fmt: FloatFormat) -> Bits:
    """Return an array of ``size``, of numbers or ``uint32`` words, as words.

    A length of None allows any length above 0.

    Raises:
        BadInput: the array has another size, or ``given_words`` refuses it.
    """
    from merp.tools.common.given_words import given_words  # import only if needed: it is slow

    return given_words(name, array_of(name, value, size), fmt)


def array_of(name: str, value: ArrayLike, size: tuple[int | None, ...]) -> NDArray[np.generic]:
    """Return an array of ``size``, of any type; a length of None allows any length above 0.

    Raises:
        BadInput: it is not an array of this size.
    """
    import numpy as np  # import only if needed: it is slow

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
    return array
