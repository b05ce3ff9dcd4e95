"""Images in bytes, and the rounding of exact numbers to words."""

from fractions import Fraction

import numpy as np
import pytest

from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.byte_image import ByteImage
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.models.base.nearest import nearest_word

FORMATS = (BINARY32, BFLOAT16, BINARY16, FloatFormat(3, 2))


@pytest.mark.parametrize("fmt", FORMATS)
def test_no_other_number_is_nearer(fmt: FloatFormat) -> None:
    """Exact fractions between, beside and halfway between two numbers; a tie goes to the even."""
    rng = np.random.default_rng(1)
    below = rng.integers(1 << fmt.frac_bits, fmt.inf - 1, 200)
    for word in below.tolist():
        low, high = (Fraction(x) for x in to_values([word, word + 1], fmt).tolist())
        half = (low + high) / 2
        assert nearest_word(half, fmt) == word + word % 2
        tiny = (high - low) / 10**30
        assert nearest_word(half + tiny, fmt) == word + 1
        assert nearest_word(tiny - half, fmt) == word | fmt.sign_bit
        assert nearest_word(-high, fmt) == word + 1 | fmt.sign_bit


def test_below_the_least_normal_number_it_is_a_signed_zero() -> None:
    least = Fraction(1, 2**126)
    assert nearest_word(least, BINARY32) == 1 << 23
    # Rounds up with an exponent that has no lower end: what the units do.
    assert nearest_word(least * (1 - Fraction(1, 2**25)), BINARY32) == 1 << 23
    assert nearest_word(least * (1 - Fraction(1, 2**24)), BINARY32) == 0
    assert nearest_word(-least / 2, BINARY32) == BINARY32.sign_bit
    assert nearest_word(Fraction(0), BINARY32) == 0


def test_beyond_the_largest_number_it_is_refused() -> None:
    assert nearest_word(Fraction(65519), BINARY16) == BINARY16.inf - 1
    with pytest.raises(ValueError, match="65520 is beyond the largest number of"):
        nearest_word(Fraction(65520), BINARY16)


def test_it_is_the_rounding_of_the_golden_model() -> None:
    numbers = np.random.default_rng(2).standard_normal(500) * 10.0
    for fmt in FORMATS[:3]:
        found = [nearest_word(Fraction(number), fmt) for number in numbers.tolist()]
        assert found == to_bits(numbers, fmt).tolist()


def test_bytes_stand_for_exact_numbers() -> None:
    image = ByteImage.of(Fraction(2, 255), Fraction(-1, 2))
    assert (image.step, image.origin, image.parts) == (4, -255, 510)
    assert (image.scale, image.offset) == (Fraction(2, 255), Fraction(-1, 2))
    assert image.exact[0] == Fraction(-1, 2)
    assert image.exact[255] == Fraction(3, 2)
    assert str(image) == "uint8 (2/255 * byte + -1/2)"
    sixteenths = ByteImage.of(Fraction(1, 16), Fraction(0)).words(BINARY32)
    assert to_values(sixteenths, BINARY32).tolist() == [byte / 16 for byte in range(256)]


@pytest.mark.parametrize("terms", [(0, 0, 1), (1, 0, 0), (2, 4, 6), (-1, 0, 1)])
def test_terms_are_lowest(terms: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="must be in lowest terms"):
        ByteImage(*terms)


def test_what_a_format_does_not_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="beyond the largest number"):
        ByteImage.of(Fraction(1000), Fraction(0)).words(BINARY16)
