"""Arrays that a test gives, as the words of a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from merp.models.arithmetic.stored import to_memory
from merp.models.errors import BadInput
from merp.models.params.bits import Bits
from merp.models.params.byte_image import ByteImage
from merp.models.params.fixed import FixedFormat
from merp.tools.bench.package import Package
from merp.tools.common.given_words import given_words
from merp.tools.common.storable import check_storable

Arrays = Mapping[str, ArrayLike]
"""By stream: numbers or words of any shape, its last dimension running fastest."""


def stream_words(package: Package, streams: Sequence[str], given: Arrays) -> dict[str, Bits]:
    """Words of each of ``streams``: (words,) ``uint32``.

    Floating-point numbers are rounded into the format of the stream; unsigned words of 8 or 32
    bits are taken as they are, in fixed point these alone, as fractions differ by pass. A stream of
    state takes unsigned bytes alone.

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
    if array.dtype == np.uint8:
        array = array.astype(np.uint32)
    if package.holds_numbers(stream):
        return _elements(package, stream, array).reshape(-1)
    if array.dtype != np.uint32 or array.max(initial=0) > 0xFF:
        raise BadInput(f"{stream}: allowed are bytes of state, uint8")
    return array.astype(np.uint32).reshape(-1)


def _elements(package: Package, stream: str, array: NDArray[np.generic]) -> Bits:
    """Numbers as they lie in memory, or words of that format."""
    fmt, stored = package.fmt, package.format_of(stream)
    if isinstance(fmt, FixedFormat) or isinstance(stored, FixedFormat):
        if array.dtype != np.uint32 or array.max(initial=0) >> fmt.width:
            raise BadInput(f"{stream}: allowed are words of {fmt.width} bits, uint32")
        return array.astype(np.uint32)
    if not isinstance(stored, ByteImage):
        return given_words(stream, array, stored)
    if array.dtype.kind == "f":
        words = given_words(stream, array, fmt)
        check_storable(stream, words, fmt, stored)
        return to_memory(words, fmt, stored)
    if array.dtype != np.uint32 or array.max(initial=0) > 0xFF:
        raise BadInput(f"{stream}: allowed are numbers, or bytes of the image, uint8")
    return array.astype(np.uint32)
