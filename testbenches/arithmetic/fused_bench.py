"""Windows and kernels for the fused sum of products: kinds of data, and its corners one by one."""

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
    """``count`` windows and kernels, each (count, taps) words.

    ``relu``, ``normal``, ``gradient`` and ``cancelling`` are like a layer's data; ``wide`` has
    exponents around the reach of the alignment, ``corners`` and ``special`` the ends of the format,
    ``raw`` any bits.
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
        # Products in pairs that differ in their last places.
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
    """Cases that random windows miss, one window each, in the first taps; (count, taps) words."""
    rows: list[tuple[list[int], list[int]]] = []
    signs = (0, SIGN)
    for sign in signs:
        # Flush boundary: a product that rounds up to the smallest normal, and those beside it.
        rows += [([fraction | 64 << 23], [sign | 64 << 23]) for fraction in (0, 1, ODD)]
        rows += [
            ([f | 63 << 23], [sign | 64 << 23 | g]) for f in (0, ODD) for g in (0, ODD - 1, ODD)
        ]
        # Overflow boundary: the largest number, the next that rounds up to infinity, and 2^128.
        rows += [
            ([191 << 23 | f], [sign | 190 << 23 | g]) for f in (0, ODD) for g in (0, ODD - 1, ODD)
        ]
        rows += [([191 << 23 | ODD], [sign | 191 << 23 | ODD]), ([254 << 23], [sign | 254 << 23])]
        # A zero, a subnormal beside a large exponent: it must not push the others out.
        small = 90 << 23 | ODD
        for zero in (0, SIGN, 1, SIGN | ODD):
            rows += [([254 << 23, ONE], [zero, sign | small]), ([small, 254 << 23], [ONE, zero])]
            rows += [
                ([ONE, zero], [sign | small, 254 << 23 | ODD]),
                ([zero, small], [254 << 23, ONE]),
            ]
        # Exact cancellation, and cancellation but for the last place.
        rows += [([ONE, ONE], [sign | ONE, sign ^ SIGN | ONE])]
        rows += [([ONE | ODD, ONE | ODD], [sign | ONE, sign ^ SIGN | ONE + 1])]
        # Opposite products that do not cancel: ties, whose last bit is half a unit, for every W;
        # low digits rounded down; one significant bit, 2^(1 - W) beside products of 1.
        for last in range(9, 14):
            rows += [([ONE | 1 << 8] * 2, [sign | ONE | 1 << last, sign ^ SIGN | ONE | 1 << last])]
        rows += [([0x3FF6ECE3] * 2, [sign | 0x3FDBB467, sign ^ SIGN | 0x3FDBB467])]
        for last in range(26, 32):
            tiny = sign | 127 - last << 23, sign ^ SIGN | 127 - last << 23
            rows += [([ONE] * 4, [ONE, SIGN | ONE, *tiny])]
        # A sum of zero that is -1 and a unit still to be added, for every W.
        for last in range(25, 30):
            tiny = sign | 127 - last << 23, sign ^ SIGN | 128 - last << 23 | 1 << 22
            rows += [([ONE] * 4, [ONE, SIGN | ONE, *tiny])]
        # Every distance up to beyond the window, of ones and of a power of two.
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
    """Signed significand; zero for a subnormal, 2^23 for what is no number."""
    if not word >> 23 & 255:
        return 0
    return (-1 if word & SIGN else 1) * (1 << 23 | word & ODD)


def operand(word: int) -> int:
    """Binary32 as a fused CU's kernel memory keeps it (page ``cu_fused``)."""
    field = word >> 23 & 255
    if field == 255:
        code = 1 << 20 if word & ODD else 1 << 22 | bool(word & SIGN) << 21
    else:
        code = mantissa(word) & (1 << 25) - 1
    return code << 8 | field


def activation(word: int, dsp: int) -> tuple[int, int]:
    """The early part of a decoded activation (exponent, flags), and the late one (mantissa, 3x)."""
    field, nan = word >> 23 & 255, word & (INF | ODD) > INF
    code = operand(word) >> 8
    triple = 3 * (code - (code >> 24 << 25)) & (1 << 27) - 1 if dsp == 1 else 0
    zero, infinite = field == 0 or nan, field == 255
    negative = bool(word & SIGN) and not zero
    early = field | zero << 33 | infinite << 34 | negative << 35
    return early, code << 8 | triple << 36
