"""The order of the axes of a value in a graph.

Maps have the axes images, channels, rows, columns: 0, 1, 2, 3. A graph may transpose them. The
functions follow the axes, so that no number moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Axes = tuple[int, ...]
CHANNELS_FIRST: Axes = (0, 1, 2, 3)
CHANNELS_LAST: Axes = (0, 2, 3, 1)

PERMUTATION = [0, 3, 1, 2]
"""The attribute of a Transpose from channels last to channels first."""


def transposed(axes: Axes, permutation: Sequence[int]) -> Axes:
    """Return the order of the axes after a Transpose.

    Raises:
        ValueError: ``permutation`` is not one of these axes.
    """
    if sorted(permutation) != list(range(len(axes))):
        raise ValueError(f"{list(permutation)} is not a permutation of {len(axes)} axes")
    return tuple(axes[each] for each in permutation)


def meant(axes: Axes, numbers: Iterable[int]) -> set[int]:
    """Return the axes that ``numbers`` name in this order; negative numbers count from the end."""
    return {axes[each] for each in numbers if -len(axes) <= each < len(axes)}
