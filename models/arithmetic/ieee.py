"""Float operations of IEEE 754, in any rounding direction and with gradual underflow.

This is not the arithmetic of this project. It gives the results that other implementations may
produce, which distinguishes their files from faulty files. It processes one pair of words at a
time, in integers.
"""

from __future__ import annotations

from merp.models.base.formats import FloatFormat

ROUNDINGS = {
    "near_even": "to nearest, ties to even",
    "near_maxMag": "to nearest, ties away from zero",
    "minMag": "towards zero",
    "min": "downwards",
    "max": "upwards",
    "odd": "to odd",
}
"""Rounding directions by TestFloat's names, ``testfloat_gen -r<name>``."""


def _scaled(word: int, fmt: FloatFormat) -> tuple[int, int]:
    """Return the signed significand and the exponent of its last place."""
    field = word >> fmt.frac_bits & fmt.exp_max
    significand = (word & ((1 << fmt.frac_bits) - 1)) | bool(field) << fmt.frac_bits
    exponent = max(field, 1) - fmt.bias - fmt.frac_bits
    return -significand if word & fmt.sign_bit else significand, exponent


def _goes_up(rest: int, half: int, odd: bool, negative: bool, rounding: str) -> bool:
    """Return whether a magnitude whose cut part is ``rest``, not 0, rounds away from zero."""
    return {
        "near_even": rest > half or (rest == half and odd),
        "near_maxMag": rest >= half,
        "minMag": False,
        "min": negative,
        "max": not negative,
        "odd": not odd,
    }[rounding]


def rounded(value: int, exponent: int, fmt: FloatFormat, rounding: str) -> int:
    """Return the word of ``value * 2**exponent``, which is not zero."""
    negative, magnitude = value < 0, abs(value)
    top = max(exponent + magnitude.bit_length() - 1, 1 - fmt.bias)
    cut = max(0, top - fmt.frac_bits - exponent)
    kept = magnitude << max(0, exponent - (top - fmt.frac_bits)) >> cut
    rest = magnitude & ((1 << cut) - 1)
    if rest:
        kept += _goes_up(rest, 1 << cut >> 1, bool(kept & 1), negative, rounding)
    # A carry out of the fraction increments the exponent. A subnormal has no hidden bit.
    word = ((top + fmt.bias - 1) << fmt.frac_bits) + kept
    if word >= fmt.inf:
        away = _goes_up(2, 1, True, negative, rounding)
        word = fmt.inf if away else fmt.inf - 1
    return word | (fmt.sign_bit if negative else 0)


def ieee(op: str, a: int, b: int, fmt: FloatFormat, rounding: str) -> int:
    """Add, subtract or multiply two words (``op``); any NaN becomes the canonical NaN."""
    sign, full = fmt.sign_bit, fmt.sign_bit - 1
    if op == "sub":
        b ^= sign
    product = (a ^ b) & sign
    if a & full > fmt.inf or b & full > fmt.inf:
        return fmt.nan
    infinite = [word for word in (a, b) if word & full == fmt.inf]
    if op == "mul":
        if infinite:
            return fmt.nan if a & full == 0 or b & full == 0 else fmt.inf | product
        if a & full == 0 or b & full == 0:
            return product
    elif infinite:
        return fmt.nan if len(infinite) == 2 and a != b else infinite[0]
    (x, x_exponent), (y, y_exponent) = _scaled(a, fmt), _scaled(b, fmt)
    if op == "mul":
        return rounded(x * y, x_exponent + y_exponent, fmt, rounding)
    low = min(x_exponent, y_exponent)
    total = (x << (x_exponent - low)) + (y << (y_exponent - low))
    if total:
        return rounded(total, low, fmt, rounding)
    if a == b:
        return a & sign
    return sign if rounding == "min" else 0
