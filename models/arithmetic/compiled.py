"""The compiled part of the golden models: exact arithmetic on binary64 values, and loops over it.

The rules are IEEE 754-2019 clause 4.3.1 (ties to even) with this project's flush to zero.
``docs/numbers.md`` explains why binary64 is enough. A value is a binary64 number that the format
represents exactly. A signed zero replaces each subnormal. The result depends on the bits alone:
fast-math is off, and no subnormal binary64 number ever occurs. Therefore the processor's own flush
mode cannot change the result.

All of this code is in one file because of numba's cache. It notices a change only in the file of
the cached function, not in the files of the functions that it calls.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.base.bits import Bits
from merp.models.base.compiled_code import compiled, prange

Values = NDArray[np.float64]

FRACTION_BITS = 52  # of binary64
BIAS = 1023  # of binary64

LANES = 16  # output maps summed in parallel: wide enough for the processor's vectors


class Limits(NamedTuple):
    """Properties of a format that the compiled code uses, as plain numbers.

    Attributes:
        exp_bits, frac_bits: widths of the fields.
        dropped: number of fraction bits that binary64 has more than the format.
        offset: bias of binary64 minus the bias of the format.
        tiny: the smallest normal number.
        huge: the first power of two beyond the largest finite number.
    """

    exp_bits: int
    frac_bits: int
    dropped: int
    offset: int
    tiny: float
    huge: float


@compiled(inline="always")
def rounded(value: float, lim: Limits) -> float:
    """Round to nearest even as if the exponent were unbounded, then flush or overflow.

    The code adds just under half a unit, or a whole half if the kept part is odd. It then
    truncates, which rounds to nearest even. A carry out of the fraction correctly increments the
    exponent. Infinities and quiet NaNs without a payload have an empty lower fraction and pass
    unchanged.
    """
    bits = np.float64(value).view(np.int64)
    odd = (bits >> lim.dropped) & 1
    bits = ((bits + (1 << (lim.dropped - 1)) - 1 + odd) >> lim.dropped) << lim.dropped
    result = np.int64(bits).view(np.float64)
    magnitude = abs(result)
    if magnitude < lim.tiny:
        result = np.copysign(0.0, result)
    if magnitude >= lim.huge:
        result = np.copysign(np.inf, result)
    return result


@compiled(inline="always")
def sum_to_odd(a: float, b: float) -> float:
    """Add two numbers, rounded to odd: rounding the result to up to 51 bits is then exact.

    If the exact sum lies between two binary64 numbers, the result is the one whose last bit is 1.
    It is neither a number of the target format nor half-way between two such numbers (Boldo and
    Melquiond 2008, doi:10.1109/TC.2007.70819). The error of the processor's sum is exact, too
    (Knuth's TwoSum).
    """
    total = a + b
    part = total - a
    error = (a - (total - part)) + (b - part)
    bits = np.float64(total).view(np.int64)
    if abs(error) > 0 and bits & 1 == 0:  # not of infinities and NaNs, whose error is a NaN
        bits += 1 if (error > 0) == (total > 0) else -1
    return np.int64(bits).view(np.float64)


@compiled(inline="always")
def decoded(word: int, lim: Limits) -> float:
    """Return the value of a word; subnormals become signed zeros, NaNs lose sign and payload."""
    exponent = np.int64(word) >> lim.frac_bits & ((1 << lim.exp_bits) - 1)
    fraction = np.int64(word) & ((1 << lim.frac_bits) - 1)
    if exponent == 0:
        magnitude = 0.0
    elif exponent < (1 << lim.exp_bits) - 1:
        bits = ((exponent + lim.offset) << FRACTION_BITS) | (fraction << lim.dropped)
        magnitude = np.int64(bits).view(np.float64)
    elif fraction == 0:
        magnitude = np.inf
    else:
        return np.nan
    if (np.int64(word) >> (lim.exp_bits + lim.frac_bits)) & 1:
        return -magnitude
    return magnitude


@compiled(inline="always")
def encoded(value: float, lim: Limits) -> Any:
    """Return the word of a value that the format represents: the inverse of ``decoded``."""
    ones = (1 << lim.exp_bits) - 1
    if np.isnan(value):
        return np.int64((ones << lim.frac_bits) | (1 << (lim.frac_bits - 1)))
    bits = np.float64(value).view(np.int64)
    sign = np.int64(bits < 0) << (lim.exp_bits + lim.frac_bits)
    if value == 0.0:
        return sign
    if np.isinf(value):
        return sign | (ones << lim.frac_bits)
    exponent = ((bits >> FRACTION_BITS) & 0x7FF) - lim.offset
    fraction = (bits >> lim.dropped) & ((1 << lim.frac_bits) - 1)
    return sign | (exponent << lim.frac_bits) | fraction


@compiled(lambda words, lim: words.size)
def decode_all(words: Bits, lim: Limits) -> Values:
    """Return the values of a one-dimensional array of words."""
    values = np.empty(words.size)
    for index in range(words.size):
        values[index] = decoded(words[index], lim)
    return values


@compiled(lambda values, words, lim: values.size)
def encode_all(values: Values, words: Bits, lim: Limits) -> None:
    """Fill ``words`` with arbitrary binary64 numbers, rounded to the format; both
    one-dimensional.
    """
    for index in range(values.size):
        value = values[index]
        # A NaN from outside may have a payload. Rounding would carry it into the exponent.
        words[index] = encoded(value if np.isnan(value) else rounded(value, lim), lim)


@compiled(lambda a, b, lim: a.size)
def multiply_all(a: Bits, b: Bits, lim: Limits) -> Bits:
    """Multiply two one-dimensional arrays of words."""
    words = np.empty(a.size, np.uint32)
    for index in range(a.size):
        product = decoded(a[index], lim) * decoded(b[index], lim)
        words[index] = encoded(rounded(product, lim), lim)
    return words


@compiled(lambda a, b, lim: a.size)
def add_all(a: Bits, b: Bits, lim: Limits) -> Bits:
    """Add two one-dimensional arrays of words."""
    words = np.empty_like(a)
    for index in range(a.size):
        total = sum_to_odd(decoded(a[index], lim), decoded(b[index], lim))
        words[index] = encoded(rounded(total, lim), lim)
    return words


@compiled()
def _tree(window: Values, kernel: Values, terms: Values, lim: Limits) -> None:
    """Sum a window as ``cu_kind = "tree"`` does: rounded products, added in pairs.

    An odd element passes to the next level.

    window: (taps,); kernel: (taps, lanes); terms: (taps, lanes), row 0 receives the sums.
    """
    count, lanes = kernel.shape
    for tap in range(count):
        for lane in range(lanes):
            terms[tap, lane] = rounded(window[tap] * kernel[tap, lane], lim)
    while count > 1:
        pairs = count // 2
        for pair in range(pairs):
            for lane in range(lanes):
                terms[pair, lane] = rounded(terms[2 * pair, lane] + terms[2 * pair + 1, lane], lim)
        if count & 1:
            for lane in range(lanes):
                terms[pairs, lane] = terms[count - 1, lane]
        count = pairs + (count & 1)


def _products(padded: Bits, kernels: Bits, start: Bits, stride: int, size: Any, lim: Limits) -> int:
    return len(padded) * int(size[0] * size[1]) * kernels.size


@compiled(_products, parallel=True)
def convolve(padded: Bits, kernels: Bits, start: Bits, stride: int, size: Any, lim: Limits) -> Bits:
    """Convolve padded maps with CUs that are trees of rounding adders.

    Args:
        padded: (images, rows, columns, n).
        kernels: (m, n, k, k).
        start: initial value of the sums: (1, m) if it is the same everywhere, else (positions, m).
        stride: of the windows.
        size: output rows and columns.
        lim: constants of the format.

    Returns:
        (images, rows, columns, m).
    """
    images = padded.shape[0]
    m, n, k, _ = kernels.shape
    rows, columns = size
    result = np.empty((images, rows, columns, m), np.uint32)
    for block in prange((m + LANES - 1) // LANES):
        low = block * LANES
        lanes = min(LANES, m - low)
        weights = np.empty((n, k * k, lanes))
        for lane in range(lanes):
            for i in range(n):
                for tap in range(k * k):
                    weights[i, tap, lane] = decoded(kernels[low + lane, i, tap // k, tap % k], lim)
        window = np.empty(k * k)
        terms = np.empty((k * k, lanes))
        total = np.empty(lanes)
        for image in range(images):
            for row in range(rows):
                for column in range(columns):
                    at = ((image * rows + row) * columns + column) % len(start)
                    for lane in range(lanes):
                        total[lane] = decoded(start[at, low + lane], lim)
                    for i in range(n):
                        for tap in range(k * k):
                            word = padded[
                                image, row * stride + tap // k, column * stride + tap % k, i
                            ]
                            window[tap] = decoded(word, lim)
                        _tree(window, weights[i], terms, lim)
                        for lane in range(lanes):
                            total[lane] = rounded(total[lane] + terms[0, lane], lim)
                    for lane in range(lanes):
                        result[image, row, column, low + lane] = encoded(total[lane], lim)
    return result
