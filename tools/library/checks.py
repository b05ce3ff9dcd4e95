"""Arguments of the library, checked where they come in: one line, as from the command line."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
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
from merp.tools.common.progress import Progress
from merp.tools.simulate.choose import check_wave_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from merp.models.base.bits import Bits


def one_of(name: str, value: object, allowed: Iterable[str]) -> str:
    """``value``, if it is one of the words that are allowed.

    Raises:
        BadInput: it is not.
    """
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        raise BadInput(f"{name} = {shown(value)}: allowed are {', '.join(words)}")
    return value


def with_backward(network: Network, backward: object) -> Network:
    """The network, going back as asked for; as it says where nothing is.

    Raises:
        BadInput: that is no way.
    """
    if backward is None:
        return network
    return replace(network, backward=one_of("backward", backward, BACKWARD.allowed))


def text(name: str, value: object) -> str:
    """``value``, if it is text.

    Raises:
        BadInput: it is not.
    """
    if not isinstance(value, str):
        raise BadInput(f"{name} = {shown(value)}: allowed is text")
    return value


def wave_place(wave: object, part: object) -> Path | None:
    """``wave`` as the place of a waveform, if there is to be one, and ``part`` what it shows.

    Raises:
        BadInput: they are not.
    """
    place = path_or_none("wave", wave)
    check_wave_of(None if part is None else text("wave_of", part), wave=place is not None)
    return place


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


def whole_or_none(name: str, value: Any, low: int, high: int) -> int | None:
    """None, or as ``whole_number``.

    Raises:
        BadInput: it is neither.
    """
    return None if value is None else whole_number(name, value, low, high)


def path_or_none(name: str, value: object) -> Path | None:
    """None, or as ``path``.

    Raises:
        BadInput: it is neither.
    """
    return None if value is None else path(name, value)


def positive(name: str, value: Any, high: float = math.inf) -> float:
    """``value`` as a float, if it is a finite number above 0, and below ``high``.

    Raises:
        BadInput: it is not.
    """
    number = _number(value)
    if not 0 < number < high:
        limit = "" if high == math.inf else f" and below {high:g}"
        raise BadInput(f"{name} = {shown(value)}: must be a number above 0{limit}")
    return number


def below(name: str, value: Any, high: float) -> float:
    """``value`` as a float, if it is a number from 0 to below ``high``.

    Raises:
        BadInput: it is not.
    """
    number = _number(value)
    if not 0 <= number < high:
        raise BadInput(f"{name} = {shown(value)}: must be a number from 0 to below {high:g}")
    return number


def not_negative(name: str, value: Any) -> float:
    """``value`` as a float, if it is a finite number of 0 or more.

    Raises:
        BadInput: it is not.
    """
    number = _number(value)
    if not 0 <= number < math.inf:
        raise BadInput(f"{name} = {shown(value)}: must be a number of 0 or more")
    return number


def _number(value: Any) -> float:
    """``value`` as a float, NaN if it is no number."""
    plain = _plain(value)
    return float(plain) if isinstance(plain, Real) and not isinstance(plain, bool) else math.nan


def _plain(value: Any) -> Any:
    """``value``, but of a NumPy scalar or an array without dimensions the Python number."""
    return value.item() if getattr(value, "shape", None) == () else value


def path(name: str, value: object) -> Path:
    """``value`` as a path, if it is text or a path of text.

    Raises:
        BadInput: it is not.
    """
    found = fspath(value) if isinstance(value, str | PathLike) else None
    if not isinstance(found, str):
        raise BadInput(f"{name} = {shown(value)}: allowed is a path")
    return Path(found)


def listener(name: str, value: Any) -> Progress:
    """Progress that is told to ``value``, if it can be called; to nobody, if it is None.

    Raises:
        BadInput: it cannot be called.
    """
    if value is not None and not callable(value):
        raise BadInput(f"{name} = {shown(value)}: allowed is a function of a text")
    return Progress(value)


def flag(name: str, value: object) -> bool:
    """``value``, if it is a bool.

    Raises:
        BadInput: it is not.
    """
    plain = _plain(value)
    if not isinstance(plain, bool):
        raise BadInput(f"{name} = {shown(value)}: allowed are True, False")
    return plain


def input_words(name: str, value: ArrayLike, size: tuple[int | None, ...], stores: Stores) -> Bits:
    """The input of a layer, or the image, as ``words``; nothing that is stored far from itself.

    Raises:
        BadInput: ``words`` or ``check_storable`` refuses it.
    """
    from merp.tools.common.storable import check_storable

    found = words(name, value, size, stores.fmt)
    check_storable(name, found, stores.fmt, stores.stored_input)
    return found


def words(name: str, value: ArrayLike, size: tuple[int | None, ...], fmt: FloatFormat) -> Bits:
    """An array of ``size``, numbers or ``uint32`` words, as words; None is any length above 0.

    Raises:
        BadInput: no such array, or ``given_words`` refuses it.
    """
    from merp.tools.common.given_words import given_words  # slow imports wait

    return given_words(name, array_of(name, value, size), fmt)


def array_of(name: str, value: ArrayLike, size: tuple[int | None, ...]) -> NDArray[np.generic]:
    """An array of ``size``, of whatever type; None is any length above 0.

    Raises:
        BadInput: no such array.
    """
    import numpy as np  # slow imports wait

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
