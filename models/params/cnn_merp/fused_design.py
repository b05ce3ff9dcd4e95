"""What is fixed at elaboration of two fused layers, and what a run of them is."""

from __future__ import annotations

from typing import NamedTuple

from merp.models.params.cnn_merp.design import Design
from merp.models.params.shape import Shape


class FusedDesign(NamedTuple):
    """Elaboration of two layers fused in forward propagation.

    Attributes:
        first: of the first layer's engine. second: of each of the second layer's.
        groups: engines of the second layer, each for a group.
    """

    first: Design
    second: Design
    groups: int

    @property
    def multipliers(self) -> int:
        """Of all CUs."""
        second = self.groups * self.second.n_cu * self.second.taps
        return self.first.n_cu * self.first.taps + second


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
