"""A phase of a layer as a loop nest, in the form of other modelling tools.

All three phases do the same multiply-adds over seven loops: batch, output map, input map, output
row and column, kernel row and column. They differ in the operand that is written.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.delta_shape import delta_shape
from merp.models.base.shape import Shape
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES, has_phase


@dataclass(frozen=True)
class Nest:
    """One phase of one layer.

    Attributes:
        phase: ``fp``, ``dp`` or ``ku``.
        batch: images.
    """

    layer: Layer
    phase: str
    batch: int

    @property
    def name(self) -> str:
        """Layer and phase, in lower case."""
        return f"{self.layer.name}_{self.phase}"

    @property
    def shape(self) -> Shape:
        """One group, as in forward propagation."""
        return self.layer.shape

    @property
    def convolution(self) -> Shape:
        """The convolution of FP, or that of DP: over dilated deltas, roles swapped, stride 1.

        Dilation inserts zeros between deltas. Therefore a stride above 1 increases the
        multiply-adds.
        """
        return delta_shape(self.shape) if PHASES[self.phase].propagates else self.shape

    @property
    def macs(self) -> int:
        """Multiply-adds of all groups and images, without the zeros of dilation."""
        return self.layer.groups * self.shape.macs(self.batch)


def nests(network: Network, phase: str, batch: int) -> list[Nest]:
    """Return the nests of ``phase``, of the layers that have it."""
    layers = [layer for layer in network.layers if has_phase(network, layer, phase)]
    return [Nest(layer, phase, batch) for layer in layers]
