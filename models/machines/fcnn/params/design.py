"""A design of F-CNN: the modules of a layer, in forward and backward propagation.

F-CNN section III: every layer and direction is a module with a configuration of its own. Layers
with the same kernel, pooling and activation may share a design and its configurations.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape
from merp.models.base.summation import TREE, Summation
from merp.models.machines.fcnn.params.pool_design import PoolDesign
from merp.models.machines.fcnn.params.product_design import ProductDesign
from merp.models.machines.fcnn.params.stream_design import StreamDesign


@dataclass(frozen=True, kw_only=True)
class FcnnDesign:
    """The modules of the layers that share a design.

    Attributes:
        units: of convolutions, for sums, deltas and gradients; or of fully connected layers.
        pooling: of activation and pooling; None if the layers have neither.
        lanes: G, images of a beat of a map.
        max_images: the largest batch.
    """

    units: StreamDesign | ProductDesign
    pooling: PoolDesign | None
    lanes: int
    max_images: int

    @property
    def fmt(self) -> FloatFormat:
        """Number format of every element."""
        return self.units.fmt

    @property
    def convolution(self) -> StreamDesign:
        """The modules of convolutions, which the design has."""
        assert isinstance(self.units, StreamDesign)
        return self.units

    @property
    def product(self) -> ProductDesign:
        """The module of fully connected layers, which the design has."""
        assert isinstance(self.units, ProductDesign)
        return self.units

    @property
    def convolves(self) -> bool:
        """Whether the layers are convolutions."""
        return isinstance(self.units, StreamDesign)

    @property
    def maps_at_once(self) -> int | None:
        """m, output maps that a pass computes; None for fully connected layers."""
        return self.convolution.maps_at_once if self.convolves else None

    @property
    def block(self) -> int | None:
        """R, rows and columns of a block; None for convolutions."""
        return None if self.convolves else self.product.size

    @property
    def blocks(self) -> int | None:
        """Nk, blocks that are computed at once; None for convolutions."""
        return None if self.convolves else self.product.blocks

    @property
    def mul_latency(self) -> int:
        """Cycles of a multiplier."""
        return self.units.mul_latency

    @property
    def add_latency(self) -> int:
        """Cycles of an adder."""
        return self.units.add_latency

    @property
    def summation(self) -> Summation:
        """Arithmetic of the sums: trees of products, and gradients in the order of the stream.

        A product adds its terms one after the other, as a tree of one product does.
        """
        return self.convolution.summation if self.convolves else TREE


def is_full(shape: Shape) -> bool:
    """Return whether a layer is a matrix product: each map is a single element."""
    return shape.k == shape.rows == shape.columns == 1
