"""Float arithmetic in integers, for the behavioural CU array.

Written from the same specification as the hardware and the golden models, and shared with neither:
decode, exact integer operation, round to nearest even, encode. Subnormals flush to signed zeros.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

_SPREAD = 30  # bits below an operand's last place; more than any significand, less than 63 - 25


@numba.njit(cache=True, inline="always")
def _encode(sign: int, exponent: int, significand: int, low: int, ebits: int, fbits: int) -> int:
    """Round ``significand`` * 2^-low (in units of the hidden bit) and pack it."""
    kept = significand >> low
    rest = significand - (kept << low)
    half = 1 << (low - 1)
    if rest > half or (rest == half and kept & 1):
        kept += 1
        if kept >> (fbits + 1):
            kept >>= 1
            exponent += 1
    top = (1 << ebits) - 1
    if exponent < 1:
        return sign << (ebits + fbits)
    if exponent >= top:
        return sign << (ebits + fbits) | top << fbits
    return sign << (ebits + fbits) | exponent << fbits | (kept & ((1 << fbits) - 1))


@numba.njit(cache=True, inline="always")
def multiply(a: int, b: int, ebits: int, fbits: int) -> int:
    """Return the bits of a * b."""
    top = (1 << ebits) - 1
    mask = (1 << fbits) - 1
    sign = ((a ^ b) >> (ebits + fbits)) & 1
    ea, fa = (a >> fbits) & top, a & mask
    eb, fb = (b >> fbits) & top, b & mask
    nan = top << fbits | 1 << (fbits - 1)
    if ea == top or eb == top:
        if (ea == top and fa) or (eb == top and fb) or ea == 0 or eb == 0:
            return nan
        return sign << (ebits + fbits) | top << fbits
    if ea == 0 or eb == 0:
        return sign << (ebits + fbits)
    product = (fa | 1 << fbits) * (fb | 1 << fbits)
    exponent = ea + eb - ((1 << (ebits - 1)) - 1)
    carry = product >> (2 * fbits + 1)
    return _encode(sign, exponent + carry, product, fbits + carry, ebits, fbits)


@numba.njit(cache=True, inline="always")
def add(a: int, b: int, ebits: int, fbits: int) -> int:
    """Return the bits of a + b."""
    top = (1 << ebits) - 1
    mask = (1 << fbits) - 1
    sa, ea, fa = a >> (ebits + fbits), (a >> fbits) & top, a & mask
    sb, eb, fb = b >> (ebits + fbits), (b >> fbits) & top, b & mask
    nan = top << fbits | 1 << (fbits - 1)
    if ea == top or eb == top:
        if (ea == top and fa) or (eb == top and fb):
            return nan
        if ea == top and eb == top and sa != sb:
            return nan
        return (sa if ea == top else sb) << (ebits + fbits) | top << fbits
    if ea == 0 and eb == 0:
        return (sa & sb) << (ebits + fbits)
    if ea == 0:
        return b
    if eb == 0:
        return a
    if (eb, fb) > (ea, fa):
        sa, ea, fa, sb, eb, fb = sb, eb, fb, sa, ea, fa
    large = (fa | 1 << fbits) << _SPREAD
    small = (fb | 1 << fbits) << _SPREAD
    distance = ea - eb
    if distance > _SPREAD:
        small = 1  # below half of the last place, only its presence counts
    else:
        small >>= distance  # exact
    total = large + small if sa == sb else large - small
    if total == 0:
        return 0
    length = 0
    rest = total
    while rest:
        rest >>= 1
        length += 1
    excess = length - (fbits + 1 + _SPREAD)
    low = _SPREAD + excess
    if low < 1:  # after cancellation: no bit is lost
        total <<= 1 - low
        low = 1
    return _encode(sa, ea + excess, total, low, ebits, fbits)


@numba.njit(cache=True)
def multiply_accumulate(
    window: Any, kernels: Any, operand: Any, terms: Any, total: Any, ebits: int, fbits: int
) -> None:
    """Give every CU's sum of products plus its operand.

    window (taps,), kernels (n_cu, taps), operand (n_cu,), total (n_cu,): raw bits, int64; terms
    (taps,) is scratch. Products in tap order, pairwise tree with an odd element passing through.
    """
    for unit in range(len(total)):
        count = len(window)
        for tap in range(count):
            terms[tap] = multiply(window[tap], kernels[unit, tap], ebits, fbits)
        while count > 1:
            pairs = count // 2
            for j in range(pairs):
                terms[j] = add(terms[2 * j], terms[2 * j + 1], ebits, fbits)
            if count % 2:
                terms[pairs] = terms[count - 1]
            count -= pairs
        total[unit] = add(operand[unit], terms[0], ebits, fbits)


def unpack(word: int, count: int, width: int) -> Any:
    """Split ``count`` elements of ``width`` bits into int64, the lowest first."""
    if width in (8, 16, 32):
        data = word.to_bytes(count * width // 8, "little")
        return np.frombuffer(data, dtype=f"<u{width // 8}").astype(np.int64)
    mask = (1 << width) - 1
    return np.array([word >> (j * width) & mask for j in range(count)], np.int64)


def pack(elements: Any, width: int) -> int:
    """Join elements of ``width`` bits, the first one lowest."""
    if width in (8, 16, 32):
        return int.from_bytes(elements.astype(f"<u{width // 8}").tobytes(), "little")
    return sum(int(element) << (j * width) for j, element in enumerate(elements))
