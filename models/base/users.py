"""The layers that share a design, as its reader needs to know them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from merp.models.base.fixed import FixedFormat
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape
from merp.models.base.storage import Storage


class LayerUse(NamedTuple):
    """A layer.

    Attributes:
        shape: of one group. groups: how many. taken: rows, columns and channels of its input.
        chained: whether that is the output of the layer in front, and nothing is added to its sums.
    """

    shape: Shape
    groups: int
    taken: tuple[int, int, int]
    chained: bool


@dataclass(frozen=True, kw_only=True)
class Users:
    """All of them.

    Attributes:
        layers: by name, in order. numbers: of the network.
        added: one of them adds the output of another layer to its sums.
        storage: how their tensors lie in memory.
    """

    layers: Mapping[str, LayerUse]
    numbers: FloatFormat | FixedFormat
    added: bool
    storage: Storage | None

    @property
    def shapes(self) -> dict[str, Shape]:
        """Shapes by name."""
        return {name: each.shape for name, each in self.layers.items()}
