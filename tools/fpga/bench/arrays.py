"""Convert the arrays of a test to the words of streams."""

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
from merp.tools.common.given_numbers import refuse_first
from merp.tools.common.given_words import given_words
from merp.tools.common.storable import check_storable
from merp.tools.fpga.bench.package import Package

Arrays = Mapping[str, ArrayLike]
"""Arrays by stream: numbers or words of any shape; the last dimension varies fastest."""


def stream_words(package: Package, streams: Sequence[str], given: Arrays) -> dict[str, Bits]:
    """Return the words of each of ``streams``: (words,) ``uint32``.

    Floating-point numbers are rounded to the format of the stream. Whole numbers must be exact in
    it. ``uint8`` and ``uint32`` arrays are words and are used unchanged. In fixed point, whole
    numbers of any type are words, because fractions differ by pass. The same holds for the
    ReLU/pooling mask.

    Raises:
        BadInput: a stream is missing or unknown, or an array is not allowed.
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
    """Return numbers in their storage format, or words of this format."""
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
    """Return whole numbers of ``width`` bits, of any type.

    Raises:
        BadInput: the array has other numbers. It names the first one; ``allowed`` ends the message.
    """
    most = (1 << width) - 1
    if array.dtype.kind not in "biu":
        raise BadInput(f"{stream}: type {array.dtype}: allowed are {allowed}, 0 to {most}")
    found: NDArray[Any] = array
    refuse_first(stream, array, (found < 0) | (found > most), f"{allowed}, 0 to {most}")
    return array.astype(np.uint32)
