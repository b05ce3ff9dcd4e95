"""Numbers as they lie in memory: in a narrower format, or of an image in bytes."""

from __future__ import annotations

import numpy as np

from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.words import as_words, to_values
from merp.models.base.bits import Bits
from merp.models.base.byte_image import ByteImage
from merp.models.base.formats import FloatFormat
from merp.models.base.storage import StoredFormat


def to_memory(words: Bits, fmt: FloatFormat, stored: StoredFormat) -> Bits:
    """Words of ``fmt``, any shape, as they lie in memory: the nearest of what there is.

    Halfway between two numbers it is the even one; between those of two bytes, the lower byte.
    """
    if not isinstance(stored, ByteImage):
        return fp_convert(words, fmt, stored)
    numbers = to_values(as_words(stored.words(fmt), fmt), fmt)
    between = (numbers[:-1] + numbers[1:]) / 2  # exact
    return np.searchsorted(between, to_values(words, fmt)).astype(np.uint8)


def from_memory(stored_words: Bits, stored: StoredFormat, fmt: FloatFormat) -> Bits:
    """Words of ``fmt`` of what lies in memory, any shape."""
    if not isinstance(stored, ByteImage):
        return fp_convert(stored_words, stored, fmt)
    return as_words(stored.words(fmt), fmt)[stored_words]


def widened(words: Bits, stored: StoredFormat | None, fmt: FloatFormat) -> Bits:
    """Convert words that passed a port, any shape, to ``fmt``.

    stored: their format; None: they are no elements, and stay as they are.
    """
    if stored is None or stored == fmt:
        return words
    return from_memory(words, stored, fmt)
