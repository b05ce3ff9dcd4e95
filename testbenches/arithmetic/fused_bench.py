"""Windows and kernels for the fused sum of products: random data and directed corner cases."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merp.models.base.bits import Bits

Pair = tuple[Bits, Bits]

CASES = ("relu", "normal", "gradient", "cancelling", "wide", "corners", "special", "raw")
SIGN, ONE, INF, NAN = 0x80000000, 0x3F800000, 0x7F800000, 0x7FC00000
ODD = 0x7FFFFF  # a fraction of ones
CORNERS = (0, 1, ODD, 1 << 23, 1 << 23 | ODD, ONE - 1, ONE, ONE + 1, ONE | ODD, INF - 1, 127 << 22)


def _numbers(values: NDArray[np.float64]) -> Bits:
    with np.errstate(over="ignore"):
        return values.astype(np.float32).view(np.uint32)


def random_windows(kind: str, count: int, taps: int, rng: np.random.Generator) -> Pair:
    """Return ``count`` windows and kernels, each (count, taps) words.

    ``relu``, ``normal``, ``gradient`` and ``cancelling`` resemble the data of a layer. ``wide`` has
    exponents around the range of the alignment. ``corners`` and ``special`` have extreme and
    special values of the format. ``raw`` has random bits.
    """
    size = (count, taps)
    a, b = rng.standard_normal(size), rng.standard_normal(size)
    if kind == "relu":
        return _numbers(np.maximum(a, 0)), _numbers(b)
    if kind == "normal":
        return _numbers(a), _numbers(b)
    if kind == "gradient":
        wide = np.exp(2 * rng.standard_normal(size))
        return _numbers(np.maximum(a, 0)), _numbers(np.sign(b) * wide)
    if kind == "cancelling":
        # Pairs of products that differ in their last bits.
        half = taps // 2
        a[:, half : 2 * half] = a[:, :half]
        b[:, half : 2 * half] = -b[:, :half] * (1 + 2.0**-20 * b[:, half : 2 * half])
        return _numbers(a), _numbers(b)
    if kind == "wide":
        spread = 2.0 ** rng.integers(-20, 21, size)
        return _numbers(a * spread), _numbers(b * spread)
    if kind == "corners":
        pair = (rng.choice(CORNERS, size) | rng.integers(0, 2, size) * SIGN for _ in range(2))
    elif kind == "special":
        rare = np.where(rng.random(size) < 0.5 / taps, 1, 0)
        ends = np.array([INF, INF | SIGN, NAN, INF + 1, 0, SIGN | 1])
        x, y = _numbers(a).astype(np.int64), _numbers(b).astype(np.int64)
        pair = (
            np.where(rare * rng.integers(0, 2, size), rng.choice(ends, size), x) for x in (x, y)
        )
    else:
        pair = (rng.integers(0, 1 << 32, size) for _ in range(2))
    first, second = pair
    return first.astype(np.uint32), second.astype(np.uint32)


def directed(taps: int) -> Pair:
    """Return cases that random windows miss, one window each, as (count, taps) words.

    Each case occupies the first taps of its window.
    """
    rows: list[tuple[list[int], list[int]]] = []
    signs = (0, SIGN)
    for sign in signs:
        # Flush boundary: a product that rounds up to the smallest normal, and its neighbours.
        rows += [([fraction | 64 << 23], [sign | 64 << 23]) for fraction in (0, 1, ODD)]
        rows += [
            ([f | 63 << 23], [sign | 64 << 23 | g]) for f in (0, ODD) for g in (0, ODD - 1, ODD)
        ]
        # Overflow boundary: the largest number, the next that rounds up to infinity, and 2^128.
        rows += [
            ([191 << 23 | f], [sign | 190 << 23 | g]) for f in (0, ODD) for g in (0, ODD - 1, ODD)
        ]
        rows += [([191 << 23 | ODD], [sign | 191 << 23 | ODD]), ([254 << 23], [sign | 254 << 23])]
        # A zero or subnormal times a large exponent must not shift the other products out.
        small = 90 << 23 | ODD
        for zero in (0, SIGN, 1, SIGN | ODD):
            rows += [([254 << 23, ONE], [zero, sign | small]), ([small, 254 << 23], [ONE, zero])]
            rows += [
                ([ONE, zero], [sign | small, 254 << 23 | ODD]),
                ([zero, small], [254 << 23, ONE]),
            ]
        # Exact cancellation, and cancellation except for the last bit.
        rows += [([ONE, ONE], [sign | ONE, sign ^ SIGN | ONE])]
        rows += [([ONE | ODD, ONE | ODD], [sign | ONE, sign ^ SIGN | ONE + 1])]
        # Opposite products that do not cancel: ties, whose last bit is half a unit, for every W;
        # low digits rounded down; one significant bit, 2^(1 - W) next to products of 1.
        for last in range(9, 14):
            rows += [([ONE | 1 << 8] * 2, [sign | ONE | 1 << last, sign ^ SIGN | ONE | 1 << last])]
        rows += [([0x3FF6ECE3] * 2, [sign | 0x3FDBB467, sign ^ SIGN | 0x3FDBB467])]
        for last in range(26, 32):
            tiny = sign | 127 - last << 23, sign ^ SIGN | 127 - last << 23
            rows += [([ONE] * 4, [ONE, SIGN | ONE, *tiny])]
        # A sum of zero that consists of -1 and of a unit still to be added, for every W.
        for last in range(25, 30):
            tiny = sign | 127 - last << 23, sign ^ SIGN | 128 - last << 23 | 1 << 22
            rows += [([ONE] * 4, [ONE, SIGN | ONE, *tiny])]
        # Every distance to beyond the window, for fractions of ones and for powers of two.
        for distance in range(40):
            small = 127 - distance << 23
            rows += [([ONE, ONE | ODD], [ONE, sign | small | f]) for f in (0, 1, ODD)]
        # Ties and their neighbours, from below and above.
        for last in range(8):
            rows += [([ONE | 1, ONE], [ONE | last << 20, sign | 127 - 24 << 23 | last])]
            rows += [([ONE | last, ONE], [ONE, sign | 127 - 24 << 23])]
        # Each low digit of the kernel alone.
        rows += [([sign | ONE | ODD], [s | ONE | digit]) for digit in range(128) for s in signs]
        # Infinities and NaNs with every partner.
        for special in (sign | INF, sign | NAN, sign | INF | 1):
            for partner in (0, SIGN, 1, SIGN | 1, ONE, SIGN | ONE, INF, SIGN | INF, NAN):
                rows += [([special], [partner]), ([partner], [special])]
                rows += [([special, SIGN | ONE], [partner, SIGN | INF])]
                rows += [([special, INF], [partner, ONE])]
    fit = [(a, b) for a, b in rows if len(a) <= taps]
    windows = np.zeros((2, len(fit), taps), np.uint32)
    for index, pair in enumerate(fit):
        for side, words in enumerate(pair):
            windows[side, index, : len(words)] = words
    return windows[0], windows[1]


def mantissa(word: int) -> int:
    """Return the signed significand.

    It is 0 for a subnormal. For infinity it is 2^23 with the sign.
    """
    if not word >> 23 & 255:
        return 0
    return (-1 if word & SIGN else 1) * (1 << 23 | word & ODD)


def operand(word: int) -> int:
    """Encode binary32 as in the kernel memory of a fused CU (page ``cu_fused``)."""
    field = word >> 23 & 255
    if field == 255:
        code = 1 << 20 if word & ODD else 1 << 22 | bool(word & SIGN) << 21
    else:
        code = mantissa(word) & (1 << 25) - 1
    return code << 8 | field


def activation(word: int, dsp: int) -> tuple[int, int]:
    """Decode an activation into an early part (exponent, flags) and a late part (mantissa, 3x)."""
    field, nan = word >> 23 & 255, word & (INF | ODD) > INF
    code = operand(word) >> 8
    triple = 3 * (code - (code >> 24 << 25)) & (1 << 27) - 1 if dsp == 1 else 0
    zero, infinite = field == 0 or nan, field == 255
    negative = bool(word & SIGN) and not zero
    early = field | zero << 33 | infinite << 34 | negative << 35
    return early, code << 8 | triple << 36
