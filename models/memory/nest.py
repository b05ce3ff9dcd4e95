"""Walks and the addresses that they visit, as arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merp.models.memory.params.mover import DIMENSIONS
from merp.models.memory.walk import Dimension, Walk

Addresses = NDArray[np.int64]


def nest(addresses: Addresses) -> Walk | None:
    """Return a walk that visits ``addresses`` in their order, or None if there is none.

    Consecutive addresses become a run. The remaining starts are divided into steps of equal size
    with equal strides, dimension by dimension.

    Args:
        addresses: (words,) addresses in words, at least one.
    """
    places = np.asarray(addresses, np.int64)
    base, words, dimensions = int(places[0]), _size(places, 1), list[Dimension]()
    places = places[::words]
    while places.size > 1:
        stride = int(places[1] - places[0])
        size = _size(places, stride)
        if size == 1 or len(dimensions) == DIMENSIONS:
            return None
        dimensions.append(Dimension(size, stride))
        places = places[::size]
    return Walk(base, words, tuple(dimensions))


def visited(walk: Walk) -> Addresses:
    """Return the address of each word of a walk, in its order: (words,)."""
    found = walk.base + np.arange(walk.words, dtype=np.int64)
    for each in walk.dimensions:
        steps = np.arange(each.count, dtype=np.int64) * each.stride
        found = (steps[:, None] + found).reshape(-1)
    return found


def _size(places: Addresses, stride: int) -> int:
    """Return the largest size of equal parts of ``places`` that have this stride inside.

    A stride can by chance also fit the first address behind a part, so parts end at some of the
    places where it does not fit, and at multiples of their distance.
    """
    breaks = np.flatnonzero(np.diff(places) != stride) + 1
    return int(np.gcd.reduce(breaks, initial=places.size))
