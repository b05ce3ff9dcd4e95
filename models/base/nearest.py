"""Rounding of exact numbers to words: to nearest, ties to even (IEEE 754-2019 clause 4.3.1)."""

from __future__ import annotations

from fractions import Fraction

from merp.models.base.formats import FloatFormat, format_name


def nearest_word(value: Fraction, fmt: FloatFormat) -> int:
    """Return the bits of the number of ``fmt`` nearest to ``value``, rounded as every unit rounds.

    The exponent has no lower bound before rounding. A rounded value below the smallest normal
    number becomes a signed zero.

    Raises:
        ValueError: the largest finite number is exceeded.
    """
    sign = fmt.sign_bit if value < 0 else 0
    size = abs(value)
    if not size:
        return 0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    significand = round(size / Fraction(2) ** (exponent - fmt.frac_bits))  # ties to even
    word = ((exponent + fmt.bias - 1) << fmt.frac_bits) + significand
    if word >= fmt.inf:
        raise ValueError(f"{value} is beyond the largest number of {format_name(fmt)}")
    return sign | (word if word >= 1 << fmt.frac_bits else 0)
