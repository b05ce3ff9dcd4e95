"""Float arithmetic in integers, for the behavioural CU array.

Written from the same specification as the hardware and the golden models, and shared with neither:
decode, exact integer result, round to nearest even, encode. Subnormals flush to signed zeros, every
NaN is the canonical one. IEEE 754-2019 clauses 4.3.1 and 5.4.1.

All compiled functions stand in this one file: numba's cache does not notice changes in another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Words = NDArray[np.uint32]


@njit(cache=True, inline="always")
def _rounded(sign: int, magnitude: int, scale: int, exp_bits: int, frac_bits: int) -> int:
    """Bits of the number nearest to ``magnitude * 2**scale``; sign: the sign bit in its place.

    ``magnitude`` is 1 to 2**53.
    """
    length = 0
    rest = magnitude
    while rest:  # compiles into a count of leading zeros
        rest >>= 1
        length += 1
    surplus = length - (frac_bits + 1)
    if surplus > 0:
        odd = (magnitude >> surplus) & 1
        kept = (magnitude + (1 << (surplus - 1)) - 1 + odd) >> surplus
        carry = kept >> (frac_bits + 1)
        kept >>= carry
        surplus += carry
    else:
        kept = magnitude << -surplus
    exponent = scale + surplus + frac_bits + (1 << (exp_bits - 1)) - 1
    if exponent < 1:
        return sign
    top = (1 << exp_bits) - 1
    if exponent >= top:
        return sign | top << frac_bits
    return sign | exponent << frac_bits | (kept & ((1 << frac_bits) - 1))


@njit(cache=True, inline="always")
def multiply(a: int, b: int, exp_bits: int, frac_bits: int) -> int:
    """Bits of the product of two words."""
    top = (1 << exp_bits) - 1
    hidden = 1 << frac_bits
    exponent_a, fraction_a = (a >> frac_bits) & top, a & (hidden - 1)
    exponent_b, fraction_b = (b >> frac_bits) & top, b & (hidden - 1)
    sign = (a ^ b) & (1 << (exp_bits + frac_bits))
    if exponent_a == top or exponent_b == top:
        nan_a = exponent_a == top and fraction_a != 0
        nan_b = exponent_b == top and fraction_b != 0
        if nan_a or nan_b or exponent_a == 0 or exponent_b == 0:
            return top << frac_bits | hidden >> 1
        return sign | top << frac_bits
    if exponent_a == 0 or exponent_b == 0:
        return sign
    bias = (1 << (exp_bits - 1)) - 1
    scale = exponent_a + exponent_b - 2 * (bias + frac_bits)
    product = (hidden | fraction_a) * (hidden | fraction_b)
    return _rounded(sign, product, scale, exp_bits, frac_bits)


@njit(cache=True, inline="always")
def add(a: int, b: int, exp_bits: int, frac_bits: int) -> int:
    """Bits of the sum of two words."""
    top = (1 << exp_bits) - 1
    hidden = 1 << frac_bits
    sign_bit = 1 << (exp_bits + frac_bits)
    if (a & (sign_bit - 1)) < (b & (sign_bit - 1)):
        a, b = b, a
    exponent_a, fraction_a = (a >> frac_bits) & top, a & (hidden - 1)
    exponent_b, fraction_b = (b >> frac_bits) & top, b & (hidden - 1)
    sign = a & sign_bit
    opposite = ((a ^ b) & sign_bit) != 0
    if exponent_a == top:
        if fraction_a != 0 or (exponent_b == top and opposite):
            return top << frac_bits | hidden >> 1
        return a
    if exponent_b == 0:
        return a if exponent_a != 0 else a & b & sign_bit
    distance = exponent_a - exponent_b
    if distance > frac_bits + 2:
        return a  # b is below a quarter of a's last place: no tie, nor half of the binade below
    large = (hidden | fraction_a) << distance
    small = hidden | fraction_b
    exact = large - small if opposite else large + small
    if exact == 0:
        return 0
    scale = exponent_b - ((1 << (exp_bits - 1)) - 1) - frac_bits
    return _rounded(sign, exact, scale, exp_bits, frac_bits)


@njit(cache=True)
def sums_of_products(
    window: Words, kernels: Words, terms: Any, sums: Words, exp_bits: int, frac_bits: int
) -> None:
    """Each CU's balanced tree of products, ``cu_kind = "tree"``.

    window: (taps,); kernels: (n_cu, taps); sums: (n_cu,), the result. terms: (taps,) int64,
    scratch. Neighbours are added level by level, an odd last term passes on.
    """
    for unit in range(sums.size):
        count = window.size
        for tap in range(count):
            a, b = np.int64(window[tap]), np.int64(kernels[unit, tap])
            terms[tap] = multiply(a, b, exp_bits, frac_bits)
        while count > 1:
            pairs = count // 2
            for j in range(pairs):
                terms[j] = add(terms[2 * j], terms[2 * j + 1], exp_bits, frac_bits)
            if count % 2:
                terms[pairs] = terms[count - 1]
            count -= pairs
        sums[unit] = terms[0]


@njit(cache=True)
def accumulate(products: Words, operand: Words, sums: Words, exp_bits: int, frac_bits: int) -> None:
    """Add an operand to every CU's sum of products; all arrays (n_cu,)."""
    for unit in range(sums.size):
        a, b = np.int64(products[unit]), np.int64(operand[unit])
        sums[unit] = add(a, b, exp_bits, frac_bits)


def unpack(word: int, count: int, width: int) -> Words:
    """Split ``count`` elements of ``width`` bits, the lowest first."""
    if width == 32:
        return np.frombuffer(word.to_bytes(count * 4, "little"), "<u4")
    mask = (1 << width) - 1
    return np.array([word >> (j * width) & mask for j in range(count)], np.uint32)


def pack(elements: Words, width: int) -> int:
    """Join elements of ``width`` bits, the first one lowest."""
    if width == 32:
        return int.from_bytes(elements.astype("<u4").tobytes(), "little")
    return sum(element << (j * width) for j, element in enumerate(elements.tolist()))
