"""Arrays that a test gives, as the words of a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from merp.models.arithmetic.stored import to_memory
from merp.models.base.bits import Bits
from merp.models.base.byte_image import ByteImage
from merp.models.base.errors import BadInput
from merp.models.base.fixed import FixedFormat
from merp.tools.bench.package import Package
from merp.tools.common.given_numbers import refuse_first
from merp.tools.common.given_words import given_words
from merp.tools.common.storable import check_storable

Arrays = Mapping[str, ArrayLike]
"""By stream: numbers or words of any shape, its last dimension running fastest."""


def stream_words(package: Package, streams: Sequence[str], given: Arrays) -> dict[str, Bits]:
    """Words of each of ``streams``: (words,) ``uint32``.

    Floating-point numbers are rounded into the format of the stream, and whole numbers must be
    held by it; ``uint8`` and ``uint32`` are words, taken as they are. In fixed point, where
    fractions differ by pass, and for state, whole numbers of any type are words.

    Raises:
        BadInput: a stream is missing or unknown, or an array is not what is allowed.
    """
    unknown = [name for name in given if name not in streams]
    missing = [name for name in streams if name not in given]
    if unknown or missing:
        names = ", ".join(unknown or missing)
        what = "no such stream" if unknown else "missing"
        names, allowed = ", ".join(unknown or missing), ", ".join(streams)
        raise BadInput(f"{names}: {what}: allowed are {allowed}")
    return {name: _words(package, name, np.asarray(given[name])) for name in streams}


def _words(package: Package, stream: str, array: NDArray[np.generic]) -> Bits:
    if package.holds_numbers(stream):
        return _elements(package, stream, array).reshape(-1)
    return _whole(stream, array, 8, "bytes of state").reshape(-1)


def _elements(package: Package, stream: str, array: NDArray[np.generic]) -> Bits:
    """Numbers as they lie in memory, or words of that format."""
    fmt, stored = package.fmt, package.format_of(stream)
    if isinstance(fmt, FixedFormat) or isinstance(stored, FixedFormat):
        return _whole(stream, array, fmt.width, f"words of {fmt.width} bits")
    words = array.astype(np.uint32) if array.dtype == np.uint8 else array
    if not isinstance(stored, ByteImage):
        return given_words(stream, words, stored)
    if array.dtype.kind == "u":
        return _whole(stream, array, 8, "numbers, or bytes of the image")
    found = given_words(stream, array, fmt)
    check_storable(stream, found, fmt, stored)
    return to_memory(found, fmt, stored)


def _whole(stream: str, array: NDArray[Any], width: int, allowed: str) -> Bits:
    """Whole numbers of ``width`` bits, of whatever type.

    Raises:
        BadInput: the array has none, or the first one that is wider; ``allowed`` ends the message.
    """
    most = (1 << width) - 1
    if array.dtype.kind not in "biu":
        raise BadInput(f"{stream}: type {array.dtype}: allowed are {allowed}, 0 to {most}")
    found: NDArray[Any] = array
    refuse_first(stream, array, (found < 0) | (found > most), f"{allowed}, 0 to {most}")
    return array.astype(np.uint32)
