"""Terms of the sums that ``lane_sums`` computes: the locations of their factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.base.bits import Bits

Offsets = NDArray[np.int64]


class Terms(NamedTuple):
    """Locations of the factors of all terms.

    Attributes:
        words: binary32 words of the first factors, one-dimensional.
        rows: (groups, taps) offsets into ``words``.
        lanes: (outputs,) offsets, to be added to a row's offset.
        weights: (groups, m, taps) words of the second factors.
        start: (m,) words.
    """

    words: Bits
    rows: Offsets
    lanes: Offsets
    weights: Bits
    start: Bits


def offsets(counts: Sequence[int], strides: Sequence[int]) -> Offsets:
    """Return the offsets of a grid's places, the last axis innermost: (product of counts,)."""
    total = np.zeros((1,), np.int64)
    for count, stride in zip(counts, strides, strict=True):
        total = (total[:, np.newaxis] + np.arange(count) * stride).reshape(-1)
    return total
