"""Float operations in exact rational arithmetic: an oracle that shares nothing with the models.

Slow and plain: operands become ``Fraction`` s, the exact result is rounded by definition (IEEE
754-2019 clauses 4.3.1 and 7), so that neither binary64 nor a bit trick can hide a mistake.
"""

from fractions import Fraction
from typing import NamedTuple

from merp.models.base.formats import FloatFormat

INEXACT, UNDERFLOW, OVERFLOW, INVALID = 1, 2, 4, 16  # bits of TestFloat's flags


class Number(NamedTuple):
    """An operand: ``magnitude`` is None for infinity; ``nan`` overrides the rest."""

    negative: bool
    magnitude: Fraction | None
    nan: bool = False


class Result(NamedTuple):
    """A word and the exceptions that it raised (tininess is detected after rounding)."""

    word: int
    flags: int


def number(word: int, fmt: FloatFormat, flush: bool) -> Number:
    """Take a word apart; with ``flush`` a subnormal is zero."""
    negative = bool(word & fmt.sign_bit)
    field = word >> fmt.frac_bits & fmt.exp_max
    fraction = word & ((1 << fmt.frac_bits) - 1)
    if field == fmt.exp_max:
        return Number(negative, None, nan=fraction != 0)
    if field == 0:
        significand = 0 if flush else fraction
    else:
        significand = fraction + (1 << fmt.frac_bits)
    exponent = max(field, 1) - fmt.bias - fmt.frac_bits
    return Number(negative, significand * Fraction(2) ** exponent)


def _floor_log2(value: Fraction) -> int:
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def rounded(negative: bool, magnitude: Fraction, fmt: FloatFormat, flush: bool) -> Result:
    """Round an exact magnitude to nearest even: gradual underflow, or flushed to zero."""
    sign = fmt.sign_bit if negative else 0
    if magnitude == 0:
        return Result(sign, 0)
    smallest = 1 - fmt.bias

    def nearest(exponent: int) -> Fraction:
        quantum = Fraction(2) ** (exponent - fmt.frac_bits)
        return round(magnitude / quantum) * quantum  # of two equally near, Python takes the even

    unbounded = nearest(_floor_log2(magnitude))
    tiny = unbounded < Fraction(2) ** smallest
    value = unbounded
    if tiny and flush:
        value = Fraction(0)
    elif not flush:
        value = nearest(max(_floor_log2(magnitude), smallest))
    flags = INEXACT if value != magnitude else 0
    if tiny and flags:
        flags |= UNDERFLOW
    if value >= Fraction(2) ** (fmt.bias + 1):
        return Result(sign | fmt.inf, OVERFLOW | INEXACT)
    if value == 0:
        return Result(sign, flags)
    exponent = max(_floor_log2(value), smallest)
    significand = int(value / Fraction(2) ** (exponent - fmt.frac_bits))
    # A subnormal lacks the leading one, which makes its exponent field 0.
    return Result(sign | (((exponent + fmt.bias - 1) << fmt.frac_bits) + significand), flags)


def _invalid(*operands: tuple[int, Number], fmt: FloatFormat) -> Result:
    """NaN result; invalid if an operand signals, or if none is a NaN."""
    nans = [word for word, operand in operands if operand.nan]
    signalling = any(not word >> (fmt.frac_bits - 1) & 1 for word in nans)
    return Result(fmt.nan, INVALID if signalling or not nans else 0)


def multiply(a: int, b: int, fmt: FloatFormat, flush: bool = True) -> Result:
    """Multiply two words."""
    x, y = number(a, fmt, flush), number(b, fmt, flush)
    negative = x.negative != y.negative
    if x.nan or y.nan:
        return _invalid((a, x), (b, y), fmt=fmt)
    if x.magnitude is None or y.magnitude is None:
        if x.magnitude == 0 or y.magnitude == 0:
            return _invalid((a, x), (b, y), fmt=fmt)
        return Result((fmt.sign_bit if negative else 0) | fmt.inf, 0)
    return rounded(negative, x.magnitude * y.magnitude, fmt, flush)


def add(a: int, b: int, fmt: FloatFormat, flush: bool = True) -> Result:
    """Add two words."""
    x, y = number(a, fmt, flush), number(b, fmt, flush)
    if x.nan or y.nan:
        return _invalid((a, x), (b, y), fmt=fmt)
    if x.magnitude is None or y.magnitude is None:
        if x.magnitude is None and y.magnitude is None and x.negative != y.negative:
            return _invalid((a, x), (b, y), fmt=fmt)
        negative = x.negative if x.magnitude is None else y.negative
        return Result((fmt.sign_bit if negative else 0) | fmt.inf, 0)
    total = (-x.magnitude if x.negative else x.magnitude) + (
        -y.magnitude if y.negative else y.magnitude
    )
    negative = total < 0 if total else x.negative and y.negative
    return rounded(negative, abs(total), fmt, flush)


def subtract(a: int, b: int, fmt: FloatFormat, flush: bool = True) -> Result:
    """Subtract two words."""
    return add(a, b ^ fmt.sign_bit, fmt, flush)


OPERATIONS = {"add": add, "sub": subtract, "mul": multiply}
