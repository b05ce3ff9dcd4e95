"""The layers that share a design, with the properties that the design's reader needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from merp.models.base.fixed import FixedFormat
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape
from merp.models.base.storage import Storage


class LayerUse(NamedTuple):
    """A layer that uses a design.

    Attributes:
        shape: of one group.
        groups: number of groups.
        taken: rows, columns and channels of its input.
        chained: whether the input is the output of the layer in front, and nothing is added to its
            sums.
    """

    shape: Shape
    groups: int
    taken: tuple[int, int, int]
    chained: bool


@dataclass(frozen=True, kw_only=True)
class Users:
    """All layers that share a design.

    Attributes:
        layers: by name, in order.
        numbers: number format of the network.
        added: whether one of them adds the output of another layer to its sums.
        storage: formats of their tensors in memory.
    """

    layers: Mapping[str, LayerUse]
    numbers: FloatFormat | FixedFormat
    added: bool
    storage: Storage | None

    @property
    def shapes(self) -> dict[str, Shape]:
        """Shapes by name."""
        return {name: each.shape for name, each in self.layers.items()}
