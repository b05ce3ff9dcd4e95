"""Conversion of numbers to and from their form in memory: a narrower format, or an image in
bytes.
"""

from __future__ import annotations

import numpy as np

from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.words import as_words, to_values
from merp.models.base.bits import Bits
from merp.models.base.byte_image import ByteImage
from merp.models.base.formats import FloatFormat
from merp.models.base.storage import StoredFormat


def to_memory(words: Bits, fmt: FloatFormat, stored: StoredFormat) -> Bits:
    """Convert words of ``fmt``, any shape, to the nearest numbers of the memory format.

    Halfway between two numbers, the even number is chosen. Halfway between the numbers of two
    bytes, the lower byte is chosen.
    """
    if not isinstance(stored, ByteImage):
        return fp_convert(words, fmt, stored)
    numbers = to_values(as_words(stored.words(fmt), fmt), fmt)
    between = (numbers[:-1] + numbers[1:]) / 2  # exact
    return np.searchsorted(between, to_values(words, fmt)).astype(np.uint8)


def from_memory(stored_words: Bits, stored: StoredFormat, fmt: FloatFormat) -> Bits:
    """Convert stored words of any shape to words of ``fmt``."""
    if not isinstance(stored, ByteImage):
        return fp_convert(stored_words, stored, fmt)
    return as_words(stored.words(fmt), fmt)[stored_words]


def widened(words: Bits, stored: StoredFormat | None, fmt: FloatFormat) -> Bits:
    """Convert words that passed a port, any shape, to ``fmt``.

    stored: their format. If it is None, the words are not elements, and are returned unchanged.
    """
    if stored is None or stored == fmt:
        return words
    return from_memory(words, stored, fmt)
