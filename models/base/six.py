"""Where ReLU6 stops, as a word of each number format: all of them have 6 exactly."""

from __future__ import annotations

from merp.models.base.formats import FloatFormat

SIX = 6


def six_word(fmt: FloatFormat) -> int:
    """Return the word of 6, which is 1.5 * 2^2."""
    return fmt.bias + 2 << fmt.frac_bits | 1 << fmt.frac_bits - 1
