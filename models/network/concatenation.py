"""Outputs of several layers that a layer takes together: the maps of one follow those of another.

In memory they are one tensor, into which each layer writes its own maps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from merp.models.base.shape import Shape

if TYPE_CHECKING:  # a network contains its concatenations
    from merp.models.network.network import Layer


@dataclass(frozen=True)
class Concatenation:
    """Layers whose maps follow each other.

    Attributes:
        parts: the layers, in the order of their maps.
        whole: the concatenation in the form of a layer. If all parts have the same ReLU, pooling
            and size of the sums, so does it. Otherwise its sums are its output.
    """

    parts: tuple[Layer, ...]
    whole: Layer

    @property
    def alike(self) -> bool:
        """Whether all parts have the same ReLU, pooling and size of the sums."""
        return _alike(self.parts)

    def maps(self) -> Iterator[tuple[Layer, slice]]:
        """Yield each part with the range of its maps."""
        first = 0
        for part in self.parts:
            yield part, slice(first, first + part.biases)
            first += part.biases


def concatenation(parts: Sequence[Layer]) -> Concatenation:
    """Return the concatenation of ``parts``, whose outputs have the same rows and columns."""
    shape, maps = parts[0].shape, sum(part.biases for part in parts)
    rows, columns = shape.out_rows, shape.out_columns
    relu, slope, pool = shape.relu, shape.slope, shape.pool
    if not _alike(parts):
        rows, columns = shape.pooled_rows, shape.pooled_columns
        relu, slope, pool = False, 0, None
    sums = Shape(n=maps, m=maps, k=1, rows=rows, columns=columns, relu=relu, slope=slope, pool=pool)
    name = "+".join(part.name for part in parts)
    whole = replace(
        parts[0], name=name, kind="conv", groups=1, shape=sums, design=None, input=None, add=None
    )
    return Concatenation(tuple(parts), whole)


def _alike(parts: Sequence[Layer]) -> bool:
    shapes = [part.shape for part in parts]
    return len({(x.relu, x.slope, x.pool, x.out_rows, x.out_columns) for x in shapes}) == 1
