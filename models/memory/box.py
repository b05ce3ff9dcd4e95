"""The walk of a part of an array: a range of indices of each dimension."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from merp.models.memory.params.mover import DIMENSIONS
from merp.models.memory.walk import Dimension, Walk

MOST_COUNT = 1 << 16
"""Steps of a dimension at most, as long as a mover has the usual ``count_bits``."""


def box(shape: Sequence[int], ranges: Sequence[range]) -> Walk:
    """Return the walk of a part of an array that starts at address 0, in elements.

    The array is in C order, and the part is visited in C order.

    Args:
        shape: size of each dimension.
        ranges: consecutive indices of each dimension, at least one each.

    Raises:
        ValueError: a range leaves the array, or the part needs too many dimensions.
    """
    for size, part in zip(shape, ranges, strict=True):
        if not part or part.start < 0 or part.stop > size or part.step != 1:
            raise ValueError(f"a range of 0 to {size - 1} must hold indices, not {part}")
    base, found = 0, list[Dimension]()
    for place in reversed(range(len(shape))):
        stride, count = prod(shape[place + 1 :]), len(ranges[place])
        base += ranges[place].start * stride
        if not found or not _continues(found[-1], stride, count):
            found.append(Dimension(count, stride))
        else:
            found[-1] = Dimension(found[-1].count * count, found[-1].stride)
    run, *outer = found
    dimensions = tuple(each for each in outer if each.count > 1)
    if len(dimensions) > DIMENSIONS:
        raise ValueError(f"a walk has at most {DIMENSIONS} dimensions, not {len(dimensions)}")
    return Walk(base, run.count, dimensions)


def _continues(inner: Dimension, stride: int, count: int) -> bool:
    """Return whether the steps of a dimension continue those of the dimension inside it."""
    most = MOST_COUNT if inner.stride > 1 else count * inner.count  # a run can have any length
    return inner.count * inner.stride == stride and inner.count * count <= most
