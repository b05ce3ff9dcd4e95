"""Two layers that are one pass of forward propagation: their sizes."""

from __future__ import annotations

from typing import NamedTuple

from merp.models.base.shape import Shape


class FusedShape(NamedTuple):
    """Two layers, the second behind the first; a group of each.

    Attributes:
        first, second: their shapes. groups: of the second layer, made of one of the first.
    """

    first: Shape
    second: Shape
    groups: int

    def macs(self, images: int) -> int:
        """Multiply-adds of both."""
        return self.first.macs(images) + self.groups * self.second.macs(images)
