"""Golden model of the fused sum of products (``cu_kind = "fused"``), in integers throughout.

Each exact product of binary32 numbers is cut to W bits. It is aligned to the largest exponent of
the window, and rounded there. The sum of the aligned products is exact, and is rounded once. The
page ``cu_fused`` lists the steps; ``cu_narrow`` lists the steps for narrow factors. The arithmetic
uses integers only. Therefore neither the order of the taps nor the processor's flush mode affects
the result.

All compiled functions are in this one file, because numba's cache does not notice changes in
another file.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.words import as_words
from merp.models.base.bits import Bits
from merp.models.base.compiled_code import compiled, prange
from merp.models.base.formats import BINARY32
from merp.models.base.summation import Summation

Integers = NDArray[np.int64]

SPECIAL = 255  # the exponent field of infinities and NaNs
SIGN = 0x80000000

SUMS_AT_ONCE = 1 << 22  # words: input maps are processed together up to this size


@compiled()
def _decode(words: Bits, operand: int) -> tuple[Integers, Integers]:
    """Step 1: return signed mantissas and exponent fields; zeros and NaNs have mantissa 0.

    A mantissa is rounded to ``operand`` bits, ties to even. A mantissa that overflows the format
    becomes an infinity.
    """
    dropped = 24 - operand
    mantissas = np.empty(words.size, np.int64)
    exponents = np.empty(words.size, np.int64)
    for index in range(words.size):
        word = np.int64(words[index])
        exponent, fraction = (word >> 23) & 255, word & 0x7FFFFF
        mantissa = 0 if exponent == 0 else (1 << 23) + fraction
        if exponent == SPECIAL and fraction != 0:
            mantissa = 0
        if dropped:
            rest, half = mantissa & ((1 << dropped) - 1), 1 << (dropped - 1)
            mantissa >>= dropped
            if rest > half or (rest == half and mantissa & 1):
                mantissa += 1
            if mantissa == 1 << operand:
                mantissa >>= 1
                exponent += 1
        mantissas[index] = -mantissa if word & SIGN else mantissa
        exponents[index] = exponent
    return mantissas, exponents


@compiled(inline="always")
def _product(a: int, b: int, dsp: int, window: int) -> int:
    """Step 3: return the product of two mantissas as a number of W bits, rounded down."""
    if dsp == 2:
        return (a * b) >> (49 - window)
    # The low seven bits of b are four digits of radix 4. Each digit's product is rounded down.
    low = b & 127
    part = 0
    for j in range(4):
        part += (((low >> (2 * j)) & 3) * a) >> (46 - window - 2 * j)
    return (a * (b >> 7) + (part << (39 - window))) >> (42 - window)


@compiled(inline="always")
def _rounded(total: int, largest: int, window: int, precision: int) -> int:
    """Steps 6 and 7: return the word of ``total`` units, each of weight 2^(largest - W - 250)."""
    if total == 0:
        return 0
    magnitude = abs(total)
    sign = 1 << (precision + 7) if total < 0 else 0
    length = 0
    while magnitude >> length:
        length += 1
    dropped = length - precision
    kept = magnitude >> dropped if dropped > 0 else magnitude << -dropped
    if dropped > 0:
        rest = magnitude - (kept << dropped)
        half = 1 << (dropped - 1)
        if rest > half or (rest == half and kept & 1):
            kept += 1
    exponent = largest - window - 250 + length - 1 + 127
    if kept == 1 << precision:
        kept >>= 1
        exponent += 1
    if exponent < 1:
        return sign
    if exponent > 254:
        return sign | SPECIAL << (precision - 1)
    return sign | (exponent << (precision - 1)) | (kept - (1 << (precision - 1)))


@compiled(inline="always")
def _special(
    a: Integers, a_exponents: Integers, b: Integers, b_exponents: Integers, precision: int
) -> tuple[bool, int]:
    """Step 8: return whether the sum is not finite, and its word in that case."""
    infinity = SPECIAL << (precision - 1)
    nan = infinity | 1 << (precision - 2)
    above, below = False, False
    for tap in range(a.size):
        if a_exponents[tap] == SPECIAL or b_exponents[tap] == SPECIAL:
            if a[tap] == 0 or b[tap] == 0:  # a NaN, or 0 times infinity
                return True, nan
            if (a[tap] < 0) == (b[tap] < 0):
                above = True
            else:
                below = True
    if above and below:
        return True, nan
    return above or below, infinity | (1 << (precision + 7) if below else 0)


@compiled(inline="always")
def _narrow_sum(
    a: Integers,
    a_exponents: Integers,
    b: Integers,
    b_exponents: Integers,
    operand: int,
    window: int,
    precision: int,
) -> int:
    """Return the word of a sum of whole products; rounding is symmetric around zero."""
    largest = 0
    for tap in range(a.size):
        largest = max(largest, a_exponents[tap] + b_exponents[tap])
    total = 0
    for tap in range(a.size):
        product = a[tap] * b[tap]
        distance = largest - a_exponents[tap] - b_exponents[tap]
        if product != 0 and distance < window:
            moved = (abs(product) << (window - 1)) >> (2 * operand + distance)
            term = (moved >> 1) + (moved & 1)
            total += term if product > 0 else -term
    return _rounded(total, largest, window, precision)


@compiled()
def _sum(
    a: Integers,
    a_exponents: Integers,
    b: Integers,
    b_exponents: Integers,
    dsp: int,
    operand: int,
    window: int,
    precision: int,
) -> int:
    """Return the word of the sum of products of two windows, each (taps,)."""
    found, word = _special(a, a_exponents, b, b_exponents, precision)
    if found:
        return word
    if operand < 24:
        return _narrow_sum(a, a_exponents, b, b_exponents, operand, window, precision)
    largest = 0
    for tap in range(a.size):
        if a[tap] != 0 and b[tap] != 0:
            largest = max(largest, a_exponents[tap] + b_exponents[tap])
    total = 0
    for tap in range(a.size):
        if a[tap] != 0 and b[tap] != 0:
            distance = largest - a_exponents[tap] - b_exponents[tap]
            if distance < window:
                moved = _product(a[tap], b[tap], dsp, window) >> distance
                total += (moved >> 1) + (moved & 1)
    return _rounded(total, largest, window, precision)


def _products(
    windows: Bits, kernels: Bits, words: Bits, dsp: int, operand: int, window: int, precision: int
) -> int:
    return windows.size


@compiled(_products)
def _sums(
    windows: Bits, kernels: Bits, words: Bits, dsp: int, operand: int, window: int, precision: int
) -> None:
    """Fill ``words`` with the sums of pairs of windows, each (..., taps)."""
    for index in range(len(windows)):
        a, a_exponents = _decode(windows[index], operand)
        b, b_exponents = _decode(kernels[index], operand)
        words[index] = _sum(a, a_exponents, b, b_exponents, dsp, operand, window, precision)


def _room(summation: Summation, shape: tuple[int, ...]) -> Bits:
    """Allocate words of the accumulator's format."""
    return as_words(np.zeros(shape, np.uint32), summation.accumulator_format(BINARY32))


def _choice(summation: Summation) -> tuple[int, int, int, int]:
    """Return the parameters of a CU's arithmetic that the compiled functions need."""
    return summation.dsp, summation.operand, summation.window, summation.precision


def fused_sum(windows: ArrayLike, kernels: ArrayLike, summation: Summation) -> Bits:
    """Sum the products over the last axis: (..., taps) words each, binary32.

    Returns (...) words of the accumulator's format.
    """
    pair = [np.asarray(words, np.uint32) for words in (windows, kernels)]
    shape = np.broadcast_shapes(*(words.shape for words in pair))
    a, b = (np.array(np.broadcast_to(x, shape)).reshape(-1, shape[-1]) for x in pair)
    words = _room(summation, (len(a),))
    _sums(a, b, words, *_choice(summation))
    return words.reshape(shape[:-1])


@compiled(parallel=True)
def _pair_sums(
    windows: Bits, kernels: Bits, sums: Bits, dsp: int, operand: int, window: int, precision: int
) -> None:
    """Fill ``sums`` with the result of ``pair_sums``."""
    a, a_exponents = _decode(windows.reshape(-1), operand)
    a, a_exponents = a.reshape(windows.shape), a_exponents.reshape(windows.shape)
    b, b_exponents = _decode(kernels.reshape(-1), operand)
    b, b_exponents = b.reshape(kernels.shape), b_exponents.reshape(kernels.shape)
    for i in prange(len(windows)):
        for j in range(len(kernels)):
            sums[j, i] = _sum(
                a[i], a_exponents[i], b[j], b_exponents[j], dsp, operand, window, precision
            )


def pair_sums(windows: Bits, kernels: Bits, summation: Summation) -> Bits:
    """Sum the products of every window with every kernel.

    windows: (count, taps); kernels: (m, taps) words. Returns (m, count) words of the accumulator's
    format.
    """
    a, b = np.ascontiguousarray(windows), np.ascontiguousarray(kernels)
    sums = _room(summation, (len(b), len(a)))
    _pair_sums(a, b, sums, *_choice(summation))
    return sums


@compiled(parallel=True)
def _map_sums(
    maps: Bits,
    kernels: Bits,
    sums: Bits,
    stride: int,
    dsp: int,
    operand: int,
    window: int,
    precision: int,
) -> None:
    """Compute the sum of products of every output map with every input map of a group.

    maps: (images, rows, columns, n), padded; kernels: (m, n, k, k); sums: (n, images, rows,
    columns, m), the result.
    """
    m, n, k, _ = kernels.shape
    _, images, rows, columns, _ = sums.shape
    x, x_exponents = _decode(maps.reshape(-1), operand)
    x, x_exponents = x.reshape(maps.shape), x_exponents.reshape(maps.shape)
    w, w_exponents = _decode(kernels.reshape(-1), operand)
    w, w_exponents = w.reshape(m, n, k * k), w_exponents.reshape(m, n, k * k)
    for line in prange(images * rows):
        image, row = line // rows, line % rows
        a, a_exponents = np.empty(k * k, np.int64), np.empty(k * k, np.int64)
        for column in range(columns):
            for i in range(n):
                for tap in range(k * k):
                    place = image, row * stride + tap // k, column * stride + tap % k, i
                    a[tap], a_exponents[tap] = x[place], x_exponents[place]
                for j in range(m):
                    sums[i, image, row, column, j] = _sum(
                        a, a_exponents, w[j, i], w_exponents[j, i], dsp, operand, window, precision
                    )


def convolve(
    padded: Bits,
    kernels: Bits,
    start: Bits,
    stride: int,
    size: tuple[int, int],
    summation: Summation,
) -> Bits:
    """Convolve padded maps: a rounding accumulator adds the fused sums of the input maps to the
    start.

    padded: (images, rows, columns, n). kernels: (m, n, k, k).
    start: in the accumulator's format, (1, m) if it is the same everywhere, else (positions, m).
    size: output rows and columns.
    Returns (images, rows, columns, m) in the accumulator's format.
    """
    fmt = summation.accumulator_format(BINARY32)
    images, m = len(padded), len(kernels)
    total = np.broadcast_to(start, (images * size[0] * size[1], m)).reshape(images, *size, m)
    together = max(1, SUMS_AT_ONCE // total.size)
    for first in range(0, kernels.shape[1], together):
        part = slice(first, first + together)
        maps, of_maps = (np.ascontiguousarray(x) for x in (padded[..., part], kernels[:, part]))
        sums = _room(summation, (of_maps.shape[1], *total.shape))
        _map_sums(maps, of_maps, sums, stride, *_choice(summation))
        for each in sums:
            total = fp_add(total, each, fmt)
    return total
