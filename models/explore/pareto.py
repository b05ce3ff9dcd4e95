"""Selection of the Pareto-optimal points of a set, as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]
"""A row for each point, a column for each cost."""

_AT_ONCE = 1 << 20


def undominated(costs: Table) -> NDArray[np.intp]:
    """Return the rows that no other row beats or equals in every column, by their first column."""
    kept = []
    left = np.lexsort(costs.T[::-1])
    while left.size:
        kept.append(left[0])  # the least of those that no kept point beats
        left = left[(costs[left] < costs[left[0]]).any(axis=1)]
    return np.array(kept, np.intp)


def merged(one: Table, other: Table, added: Sequence[bool]) -> tuple[Table, NDArray[np.intp]]:
    """Return the front of all pairs with a row of each table: their total costs and their rows.

    added: for each column, whether the total is the sum; otherwise it is the larger of both values.
    """
    front, pairs = np.empty((0, one.shape[1])), np.empty((0, 2), np.intp)
    step = max(1, _AT_ONCE // max(1, len(other)))
    for start in range(0, len(one), step):
        some = one[start : start + step, np.newaxis]
        found = np.where(added, some + other, np.maximum(some, other)).reshape(-1, one.shape[1])
        rows, columns = np.divmod(np.arange(len(found)), len(other))
        front = np.concatenate((front, found))
        pairs = np.concatenate((pairs, np.stack((rows + start, columns), axis=1)))
        kept = undominated(front)
        front, pairs = front[kept], pairs[kept]
    return front, pairs
