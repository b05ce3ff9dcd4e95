"""Numbers as they lie in memory: an image in bytes."""

from fractions import Fraction

import numpy as np
import pytest

from merp.models.arithmetic.stored import from_memory, to_memory
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.byte_image import BYTES, ByteImage
from merp.models.base.formats import BFLOAT16, BINARY32, FloatFormat

PHOTO = ByteImage.of(Fraction(2, 255), Fraction(-1))


@pytest.mark.parametrize("fmt", [BINARY32, BFLOAT16])
def test_every_byte_comes_back(fmt: FloatFormat) -> None:
    """Or, where two of them are one number of the format, that number."""
    every = np.arange(BYTES, dtype=np.uint8).reshape(2, -1)
    words = from_memory(every, PHOTO, fmt)
    found = to_memory(words, fmt, PHOTO)
    assert found.shape == every.shape
    assert np.array_equal(from_memory(found, PHOTO, fmt), words)
    if fmt == BINARY32:
        assert np.array_equal(found, every)


def test_other_numbers_are_rounded_to_the_nearest_byte() -> None:
    numbers = np.random.default_rng(3).uniform(-1.1, 1.1, 1000)
    found = to_memory(to_bits(numbers, BINARY32), BINARY32, PHOTO)
    exact = to_values(to_bits(numbers, BINARY32), BINARY32)
    wanted = np.clip(np.rint((exact + 1) * 127.5), 0, 255)
    assert np.array_equal(found, wanted)


def test_a_tie_goes_to_the_lower_byte() -> None:
    wholes = ByteImage.of(Fraction(1), Fraction(0))
    words = to_bits([0.5, 1.5, 2.5, 254.5, -3.0, 300.0], BINARY32)
    assert to_memory(words, BINARY32, wholes).tolist() == [0, 1, 2, 254, 0, 255]
