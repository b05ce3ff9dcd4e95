"""Float arithmetic in integers, for the behavioural CU arrays.

The functions are written from the specification of the hardware and the golden models, and share
code with neither. The steps are: decode, exact integer result, round to nearest even, encode.
Subnormals flush to signed zeros, and every NaN is the canonical one. Source: IEEE 754-2019 clauses
4.3.1 and 5.4.1.

The code computes all cases and selects the right result without a branch. Therefore the loops over
the CUs become vector instructions, and no branch is mispredicted. All compiled functions are in
this one file, because numba's cache does not notice changes in another file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from merp.models.base.bits import Bits
from merp.models.base.compiled_code import compiled


@compiled(inline="always")
def _rounded(exact: int, exponent: int, drop: int, exp_bits: int, frac_bits: int) -> int:
    """Round ``exact``, whose leading one has this biased exponent, and drop ``drop`` bits.

    The result is the magnitude bits. The hidden bit adds one to the exponent field below it, and so
    does a carry out of the rounding.
    """
    odd = (exact >> drop) & 1
    kept = (exact + (1 << (drop - 1)) - 1 + odd) >> drop
    magnitude = ((exponent - 1) << frac_bits) + kept
    infinity = ((1 << exp_bits) - 1) << frac_bits
    magnitude = infinity if magnitude > infinity else magnitude
    return magnitude if magnitude >= (1 << frac_bits) else 0


@compiled(inline="always")
def multiply(a: Any, b: Any, exp_bits: int, frac_bits: int) -> int:
    """Multiply two words, held in int64; return the bits of the product."""
    top = (1 << exp_bits) - 1
    hidden = 1 << frac_bits
    exponent_a, fraction_a = (a >> frac_bits) & top, a & (hidden - 1)
    exponent_b, fraction_b = (b >> frac_bits) & top, b & (hidden - 1)
    exact = (hidden | fraction_a) * (hidden | fraction_b)
    carry = exact >> (2 * frac_bits + 1)
    exponent = exponent_a + exponent_b + carry - ((1 << (exp_bits - 1)) - 1)
    magnitude = _rounded(exact << (1 - carry), exponent, frac_bits + 1, exp_bits, frac_bits)
    infinite = (exponent_a == top) | (exponent_b == top)
    zero = (exponent_a == 0) | (exponent_b == 0)
    magnitude = top << frac_bits if infinite else magnitude
    magnitude = 0 if zero else magnitude
    product = ((a ^ b) & (1 << (exp_bits + frac_bits))) | magnitude
    nan_a = (exponent_a == top) & (fraction_a != 0)
    nan_b = (exponent_b == top) & (fraction_b != 0)
    return top << frac_bits | hidden >> 1 if nan_a | nan_b | (infinite & zero) else product


@compiled(inline="always")
def add(a: Any, b: Any, exp_bits: int, frac_bits: int) -> int:
    """Add two words, held in int64; return the bits of the sum."""
    top = (1 << exp_bits) - 1
    hidden = 1 << frac_bits
    sign_bit = 1 << (exp_bits + frac_bits)
    swap = (a & (sign_bit - 1)) < (b & (sign_bit - 1))
    large = b if swap else a
    small = a if swap else b
    exponent_l, fraction_l = (large >> frac_bits) & top, large & (hidden - 1)
    exponent_s, fraction_s = (small >> frac_bits) & top, small & (hidden - 1)
    opposite = ((a ^ b) & sign_bit) != 0

    # Up to `room` places apart, the sum is exact. Further apart, the smaller number counts as if it
    # were at `room`. It is still below a quarter of the larger one's last place, so it is rounded
    # away.
    room = frac_bits + 3
    distance = exponent_l - exponent_s
    distance = room if distance > room else distance
    aligned = ((hidden | fraction_s) << room) >> distance
    aligned = 0 if exponent_s == 0 else aligned
    exact = ((hidden | fraction_l) << room) + (-aligned if opposite else aligned)

    # The leading one moves to the place of a carry, a bit above that of the larger number.
    width = frac_bits + room + 2
    exponent = exponent_l + 1
    for step in (32, 16, 8, 4, 2, 1):
        low = exact < (1 << (width - step if width > step else 0))
        exact = exact << step if low else exact
        exponent = exponent - step if low else exponent
    magnitude = _rounded(exact, exponent, room + 1, exp_bits, frac_bits)

    total = (large & sign_bit) | magnitude
    total = 0 if exact == 0 else total
    total = a & b & sign_bit if exponent_l == 0 else total
    total = large if exponent_l == top else total
    nan = (exponent_l == top) & ((fraction_l != 0) | ((exponent_s == top) & opposite))
    return top << frac_bits | hidden >> 1 if nan else total


@compiled(lambda window, kernels, *_: kernels.size)
def sums_of_products(
    window: Bits, kernels: Bits, terms: Any, sums: Bits, exp_bits: int, frac_bits: int
) -> None:
    """Compute the balanced tree of products of each CU (``cu_kind = "tree"``).

    Args:
        window: elements, (taps,).
        kernels: kernel elements, (taps, n_cu).
        sums: the result, (n_cu,).
        terms: scratch, (taps, n_cu), int64.

    Neighbours are added level by level; an odd last term passes to the next level.
    """
    units = sums.size
    for tap in range(window.size):
        a = np.int64(window[tap])
        for unit in range(units):
            terms[tap, unit] = multiply(a, np.int64(kernels[tap, unit]), exp_bits, frac_bits)
    count = window.size
    while count > 1:
        pairs = count // 2
        for j in range(pairs):
            for unit in range(units):
                a, b = terms[2 * j, unit], terms[2 * j + 1, unit]
                terms[j, unit] = add(a, b, exp_bits, frac_bits)
        if count % 2:
            for unit in range(units):
                terms[pairs, unit] = terms[count - 1, unit]
        count -= pairs
    for unit in range(units):
        sums[unit] = terms[0, unit]


@compiled(lambda products, *_: products.size)
def accumulate(products: Bits, operand: Bits, sums: Bits, exp_bits: int, frac_bits: int) -> None:
    """Add an operand to the sum of products of every CU; all arrays are (n_cu,)."""
    for unit in range(sums.size):
        a, b = np.int64(products[unit]), np.int64(operand[unit])
        sums[unit] = add(a, b, exp_bits, frac_bits)


@compiled(lambda words, *_: words.size)
def narrow(words: Bits, elements: Bits, exp_bits: int, frac_bits: int, lost: int) -> None:
    """Round words to ``lost`` fraction bits less than frac_bits; both arrays are (n_cu,).

    Exponents keep their width, so that magnitudes can be rounded as whole numbers.
    """
    infinity = ((1 << exp_bits) - 1) << frac_bits
    for unit in range(words.size):
        word = np.int64(words[unit])
        magnitude = word & ((1 << (exp_bits + frac_bits)) - 1)
        kept = (magnitude + (1 << (lost - 1)) - 1 + ((magnitude >> lost) & 1)) >> lost
        if magnitude > infinity:
            elements[unit] = (infinity | 1 << (frac_bits - 1)) >> lost
        else:
            elements[unit] = kept | (word - magnitude) >> lost


@compiled(lambda window, deltas, operand, *_: operand.size)
def add_products(
    window: Bits, deltas: Bits, operand: Bits, totals: Bits, exp_bits: int, frac_bits: int
) -> None:
    """Add to the gradient of each tap the product of the tap and the delta of every CU.

    Args:
        window: elements, (taps,).
        deltas: deltas, (n_cu,).
        operand: gradients so far, (taps, n_cu).
        totals: the result, (taps, n_cu).
    """
    for tap in range(window.size):
        a = np.int64(window[tap])
        for unit in range(deltas.size):
            product = multiply(a, np.int64(deltas[unit]), exp_bits, frac_bits)
            totals[tap, unit] = add(product, np.int64(operand[tap, unit]), exp_bits, frac_bits)


@compiled(lambda *_: 1)
def scaled_add(
    factor: int, x: int, addend: int, subtract: bool, exp_bits: int, frac_bits: int
) -> int:
    """Return ``addend`` plus, or minus, ``factor`` times ``x``; product and sum are rounded."""
    product = multiply(np.int64(factor), np.int64(x), exp_bits, frac_bits)
    if subtract:
        product ^= 1 << (exp_bits + frac_bits)
    return add(product, np.int64(addend), exp_bits, frac_bits)


def unpack(word: int, count: int, width: int) -> Bits:
    """Split a word into ``count`` elements of ``width`` bits, the lowest first."""
    if width == 32:
        return np.frombuffer(word.to_bytes(count * 4, "little"), "<u4")
    mask = (1 << width) - 1
    return np.array([word >> (j * width) & mask for j in range(count)], np.uint32)


def pack(elements: Bits, width: int) -> int:
    """Join elements of ``width`` bits, the first one lowest."""
    if width == 32:
        return int.from_bytes(elements.astype("<u4").tobytes(), "little")
    return sum(element << (j * width) for j, element in enumerate(elements.tolist()))
