"""The sizes of two layers that run as one pass of forward propagation."""

from __future__ import annotations

from typing import NamedTuple

from merp.models.base.shape import Shape


class FusedShape(NamedTuple):
    """Two consecutive layers; a group of each.

    Attributes:
        first, second: their shapes.
        groups: number of groups of the second layer that one group of the first layer feeds.
    """

    first: Shape
    second: Shape
    groups: int

    def macs(self, images: int) -> int:
        """Return the multiply-adds of both layers."""
        return self.first.macs(images) + self.groups * self.second.macs(images)
