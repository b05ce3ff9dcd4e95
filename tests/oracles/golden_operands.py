"""Operands of goldens whose sums tell one order from another, and the sum of a tree."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from exact import add
from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape


def shape_of(geometry: Sequence[Any]) -> Shape:
    """The shape with these n, m, k, rows, columns, stride and pad."""
    keys = ("n", "m", "k", "rows", "columns", "stride", "pad")
    return Shape(**dict(zip(keys, geometry, strict=True)))


def random_words(rng: np.random.Generator, size: tuple[int, ...], fmt: FloatFormat) -> Bits:
    """Numbers over many binades, so that another order of summation gives other bits."""
    return to_bits(rng.standard_normal(size) * 2.0 ** rng.integers(-4, 5, size), fmt)


def tree(terms: list[int], fmt: FloatFormat) -> int:
    """The sum of neighbours, level by level; what has no neighbour goes up as it is."""
    while len(terms) > 1:
        odd = terms[-1:] if len(terms) % 2 else []
        terms = [add(a, b, fmt).word for a, b in zip(terms[::2], terms[1::2], strict=False)] + odd
    return terms[0]
