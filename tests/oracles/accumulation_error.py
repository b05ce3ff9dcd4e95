"""How exact a convolution is, by the kind of CU and the accumulator behind it.

    python tests/oracles/accumulation_error.py

prints the table of ``docs/blocks/cnn_merp/cu_array/accumulator.md``.
"""

import argparse
from collections.abc import Iterator
from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.bits import Bits
from merp.models.base.formats import BINARY32
from merp.models.base.summation import TREE, Summation
from merp.models.golden.convolution import convolution

MAPS = (1, 16, 64, 256, 512)
KERNELS, K = 4, 5
SEED = 2024
COUNT = 1000  # windows a column
CHOICES = {
    "tree, binary32": TREE,
    **{f"fused, p = {p}": Summation(kind="fused", precision=p) for p in (24, 25, 26, 27, 28)},
    "exact sum, rounded once": None,
}


class Sums(NamedTuple):
    """Some outputs of a layer: what goes in, and the exact result.

    Attributes:
        x, kernels, bias: words, as ``convolution`` takes them, windows side by side.
        exact, magnitude: of each output, and the sum of its terms' magnitudes, in binary64.
    """

    x: Bits
    kernels: Bits
    bias: Bits
    exact: NDArray[np.float64]
    magnitude: NDArray[np.float64]


def sums_of(n: int, count: int, rng: np.random.Generator) -> Sums:
    """``count`` windows of ``n`` maps after ReLU, under normal kernels and biases.

    Products of binary32 numbers are exact in binary64, and ``fsum`` rounds their sum once.
    """
    x = to_bits(np.maximum(rng.standard_normal((1, K, K * count, n)), 0), BINARY32)
    kernels = to_bits(rng.standard_normal((KERNELS, n, K, K)), BINARY32)
    bias = to_bits(rng.standard_normal(KERNELS), BINARY32)
    windows = to_values(x, BINARY32).reshape(K, count, K, n).transpose(1, 3, 0, 2)
    exact = np.empty((count, KERNELS))
    magnitude = np.empty((count, KERNELS))
    weights, starts = to_values(kernels, BINARY32), to_values(bias, BINARY32)
    for j, (kernel, start) in enumerate(zip(weights, starts, strict=True)):
        for i, window in enumerate(windows):
            terms = [start, *(window * kernel).reshape(-1)]
            exact[i, j] = fsum(terms)
            magnitude[i, j] = np.abs(terms).sum()
    return Sums(x, kernels, bias, exact, magnitude)


def error_of(sums: Sums, choice: Summation | None) -> tuple[float, float, float]:
    """Mean and largest error by the terms' magnitude in 2^-24, and the share rounded correctly."""
    once = to_bits(sums.exact, BINARY32)
    words = once
    if choice is not None:
        words = convolution(sums.x, sums.kernels, sums.bias, K, 0, BINARY32, choice)
        words = words.reshape(once.shape)
    error = np.abs(to_values(words, BINARY32) - sums.exact) / sums.magnitude * 2**24
    return float(error.mean()), float(error.max()), float((words == once).mean())


def rows(count: int) -> Iterator[str]:
    """Rows of the table, from ``count`` windows under each kernel."""
    columns = [sums_of(n, count, np.random.default_rng([SEED, n])) for n in MAPS]
    for name, choice in CHOICES.items():
        found = (error_of(sums, choice) for sums in columns)
        cells = (f"{mean:.3f} / {most:.2f}, {right:.0%}" for mean, most, right in found)
        yield f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, allow_abbrev=False).parse_args()
    print(*rows(COUNT), sep="\n")
