"""A training step in the array. Its results for an image become the operands of later passes."""

from __future__ import annotations

from dataclasses import dataclass, field

from merp.models.arithmetic.fixed import Words
from merp.models.machines.mac_array.fixed_golden_step import FixedGoldenStep
from merp.models.machines.mac_array.fixed_update import Pair
from merp.models.network.branches import previous
from merp.models.network.network import Layer

Place = tuple[str, int]
"""Name of a layer, and number of an image."""


@dataclass(frozen=True, eq=False)
class ArrayStep:
    """A step. Golden values replace results that the hardware has not computed.

    Attributes:
        golden: the golden step, for all comparisons.
        maps: outputs of one image, (1, rows, columns, maps).
        deltas: deltas of outputs, with the same dimensions.
        sums: deltas of sums, with the same dimensions.
        gradients: by layer and the last image that they include.
        new: kernels and biases after the update, in the array's layout.
        moving: their velocities, in the array's layout.
    """

    golden: FixedGoldenStep
    maps: dict[Place, Words] = field(default_factory=dict)
    deltas: dict[Place, Words] = field(default_factory=dict)
    sums: dict[Place, Words] = field(default_factory=dict)
    gradients: dict[Place, Pair] = field(default_factory=dict)
    new: dict[str, Pair] = field(default_factory=dict)
    moving: dict[str, Pair] = field(default_factory=dict)

    @property
    def images(self) -> int:
        """Number of images of the batch."""
        return self.golden.images

    def input_of(self, layer: Layer, image: int) -> Words:
        """Return the input maps of a layer, in the array's layout."""
        wanted = self.golden.kept(layer, image).maps
        front = previous(self.golden.network, layer)
        if front is None:
            return wanted
        return self.maps.get((front.name, image), wanted).reshape(wanted.shape)

    def delta_of(self, layer: Layer, image: int) -> Words:
        """Return the deltas of a layer's outputs.

        For the last layer the host computes them from the loss.
        """
        key = layer.name, image
        if key not in self.deltas and key in self.maps:
            if layer is self.golden.network.layers[-1]:
                return self.golden.lost(image, self.maps[key]).deltas
        return self.deltas.get(key, self.golden.deltas(layer, image))

    def sums_of(self, layer: Layer, image: int) -> Words:
        """Return the deltas of a layer's sums.

        Without pooling they are the deltas of its outputs.
        """
        key = layer.name, image
        if key in self.sums:
            return self.sums[key]
        if self.golden.kept(layer, image).of.pool == 1:
            return self.delta_of(layer, image)
        return self.golden.sums(layer, image)

    def gradients_of(self, layer: Layer, image: int) -> Pair:
        """Return the gradients of a layer after an image."""
        if (layer.name, image) in self.gradients:
            return self.gradients[layer.name, image]
        return Pair(*(each.words for each in self.golden.gradients(layer, image)))
