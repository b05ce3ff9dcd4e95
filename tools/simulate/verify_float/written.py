"""Write a file of sums with golden results: corner cases, then random rows of several kinds."""

from __future__ import annotations

import numpy as np

from merp.models.arithmetic.fused import fused_sum
from merp.models.arithmetic.sum_vectors import SumSet, sum_lines


def written(sums: SumSet, count: int, seed: int) -> tuple[str, int]:
    """Return the text of a file and its number of rows: ``count`` random ones, and the corners."""
    from merp.testbenches.arithmetic.fused_bench import CASES, directed, random_windows

    rng = np.random.default_rng(seed)
    shares = [count // len(CASES) + (at < count % len(CASES)) for at in range(len(CASES))]
    pairs = [directed(sums.taps)]
    pairs += [
        random_windows(kind, share, sums.taps, rng)
        for kind, share in zip(CASES, shares, strict=True)
    ]
    a, b = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return sum_lines(sums, a, b, fused_sum(a, b, sums.summation)), len(a)
