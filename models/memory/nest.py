"""Walks and the addresses that they visit, as arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from merp.models.memory.params.mover import DIMENSIONS
from merp.models.memory.walk import Dimension, Walk

Addresses = NDArray[np.int64]


def nest(addresses: Addresses) -> Walk | None:
    """Return a walk that visits ``addresses`` in their order, or None if there is none.

    Consecutive addresses become a run. The remaining starts are divided into steps of equal size
    with equal strides, dimension by dimension. A stride can by chance also fit the first address
    behind a step. Therefore each size that divides the number of addresses is tried, the largest
    first.

    Args:
        addresses: (words,) addresses in words, at least one.
    """
    found = np.asarray(addresses, np.int64)
    for size in _sizes(found, 1):
        dimensions = _dimensions(found[::size], DIMENSIONS)
        if dimensions is not None:
            return Walk(int(found[0]), size, dimensions)
    return None


def visited(walk: Walk) -> Addresses:
    """Return the address of each word of a walk, in its order: (words,)."""
    found = walk.base + np.arange(walk.words, dtype=np.int64)
    for each in walk.dimensions:
        steps = np.arange(each.count, dtype=np.int64) * each.stride
        found = (steps[:, None] + found).reshape(-1)
    return found


def _dimensions(starts: Addresses, most: int) -> tuple[Dimension, ...] | None:
    """Return at most ``most`` dimensions that visit ``starts``, the fastest first."""
    if starts.size == 1:
        return ()
    if not most:
        return None
    stride = int(starts[1] - starts[0])
    for size in _sizes(starts, stride):
        outer = _dimensions(starts[::size], most - 1) if size > 1 else None
        if outer is not None:
            return (Dimension(size, stride), *outer)
    return None


def _sizes(places: Addresses, stride: int) -> Iterator[int]:
    """Yield the sizes into which ``places`` divide so that each part has this stride inside."""
    breaks = np.flatnonzero(np.diff(places) != stride) + 1
    first = int(breaks[0]) if breaks.size else places.size
    for size in range(first, 0, -1):
        if places.size % size == 0 and not (breaks % size).any():
            yield size
