"""Tiles of a layer that fit an on-chip memory, with the least traffic.

The engine stores the kernels of ``inputs`` x ``outputs`` maps, k rows of each input map of the tile
and a sum per output map: inputs*outputs*k^2 + inputs*k*columns + outputs elements. Every tile is
one pass over the batch. Therefore kernels are loaded once in every tiling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from merp.models.base.errors import BadInput


@dataclass(frozen=True)
class Tiling:
    """Number of parts into which output maps and input maps are cut."""

    outputs: int
    inputs: int


def _part_sizes(maps: int) -> Iterator[int]:
    """Yield the sizes that equal parts of ``maps`` can have, largest first."""
    size = maps
    while size:
        parts = -(-maps // size)
        yield -(-maps // parts)
        size = (maps - 1) // parts  # the largest size with one part more


def best_tiling(
    *,
    where: str,
    inputs: int,
    outputs: int,
    k: int,
    columns: int,
    words: int,
    cost: Callable[[Tiling], int],
) -> Tiling:
    """Return the tiling of least ``cost`` whose tile fits ``words`` elements on chip.

    The cost must not fall when either number of parts rises. ``where`` opens the message.

    Raises:
        BadInput: not even one map in, one map out fits.
    """
    best: tuple[int, Tiling] | None = None
    for size_in in _part_sizes(inputs):
        free = words - size_in * k * columns
        size_out = min(outputs, free // (size_in * k * k + 1))
        if size_out < 1:
            continue
        tiling = Tiling(outputs=-(-outputs // size_out), inputs=-(-inputs // size_in))
        if best is None or cost(tiling) < best[0]:
            best = cost(tiling), tiling
    if best is None:
        raise BadInput(
            f"{where}: on-chip memory of {words} words: must be at least "
            f"{k * k + k * columns + 1} words, for one map in and one map out"
        )
    return best[1]
