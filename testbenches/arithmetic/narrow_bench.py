"""Directed windows and kernels for fused sums of narrow factors."""

from __future__ import annotations

import numpy as np

from merp.testbenches.arithmetic.fused_bench import INF, NAN, ODD, ONE, SIGN, Pair
from merp.testbenches.arithmetic.fused_bench import directed as directed_wide

SHORT = (8, 11)  # bits of the significands


def directed(taps: int) -> Pair:
    """Return cases that random windows miss: the cases of binary32, and rounded factors."""
    rows: list[tuple[list[int], list[int]]] = []
    for sign in (0, SIGN):
        for short in SHORT:
            half, last = 1 << (23 - short), 1 << (24 - short)
            # Ties to even, their neighbours, and a carry into the exponent; up to infinity.
            for word in (ONE, ONE | last, ONE | ODD & -last, INF - last):
                rows += [([sign | word | half + more], [ONE]) for more in (-1, 0, 1)] + [
                    ([ONE], [sign | word | half + more]) for more in (-1, 0, 1)
                ]
            # A factor that rounds to infinity, times zero; infinities of both signs from numbers.
            rows += [([sign | INF - 1], [0]), ([0], [sign | INF - 1])]
            rows += [([INF - 1, INF - 1], [sign | ONE, sign ^ SIGN | ONE])]
            # A subnormal that would round up to a normal number is a zero.
            rows += [([ODD], [sign | ONE]), ([sign | ONE], [ODD | SIGN])]
            # The largest product, and a smaller product at each of 34 distances.
            most = ONE | ODD & -last
            for distance in range(34):
                small = 127 - distance << 23
                for fraction in (0, last, ODD & -last):
                    rows += [([most, most], [most, sign | small | fraction])]
                    rows += [([ONE, ONE], [ONE, sign | small | fraction])]
            # Ties of the alignment, on both sides of zero.
            for place in range(10, 34):
                rows += [([ONE, ONE], [sign | ONE, 127 - place << 23])]
                rows += [([ONE, ONE], [sign | ONE, SIGN | 127 - place << 23 | 1 << 22])]
            # A zero counts as 2^-127: times a large factor it shifts the other products.
            for large in range(96, 160, 3):
                rows += [([0, 40 << 23], [sign | large << 23, 60 << 23])]
                rows += [([sign | large << 23, 40 << 23], [SIGN, 60 << 23])]
            rows += [([sign | NAN, ONE], [0, ONE])]
    fit = [(a, b) for a, b in rows if len(a) <= taps]
    windows = np.zeros((2, len(fit), taps), np.uint32)
    for index, pair in enumerate(fit):
        for side, words in enumerate(pair):
            windows[side, index, : len(words)] = words
    wide = directed_wide(taps)
    return np.concatenate([windows[0], wide[0]]), np.concatenate([windows[1], wide[1]])
