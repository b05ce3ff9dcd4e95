"""A training step in the array: what it has made of an image so far goes into its next passes."""

from __future__ import annotations

from dataclasses import dataclass, field

from merp.models.arithmetic.fixed import Words
from merp.models.machines.mac_array.fixed_golden_step import FixedGoldenStep
from merp.models.machines.mac_array.fixed_update import Pair
from merp.models.network.branches import previous
from merp.models.network.network import Layer

Place = tuple[str, int]
"""Name of a layer, and image."""


@dataclass(frozen=True, eq=False)
class ArrayStep:
    """A step; of what the hardware has not made, the golden's stands for it.

    Attributes:
        golden: what every word is compared with.
        maps: outputs. deltas: of outputs. sums: deltas of sums. All of one image, (1, rows,
            columns, maps).
        gradients: by layer and the last image that they have. new, moving: kernels and biases
            behind the update, and their velocities. Kernels as the array has them.
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
        """Images of the batch."""
        return self.golden.images

    def input_of(self, layer: Layer, image: int) -> Words:
        """Input maps of a layer, as the array has them."""
        wanted = self.golden.kept(layer, image).maps
        front = previous(self.golden.network, layer)
        if front is None:
            return wanted
        return self.maps.get((front.name, image), wanted).reshape(wanted.shape)

    def delta_of(self, layer: Layer, image: int) -> Words:
        """Deltas of a layer's outputs: of the last layer the host's, from the loss."""
        key = layer.name, image
        if key not in self.deltas and key in self.maps:
            if layer is self.golden.network.layers[-1]:
                return self.golden.lost(image, self.maps[key]).deltas
        return self.deltas.get(key, self.golden.deltas(layer, image))

    def sums_of(self, layer: Layer, image: int) -> Words:
        """Deltas of a layer's sums: where nothing is pooled, those of its outputs."""
        key = layer.name, image
        if key in self.sums:
            return self.sums[key]
        if self.golden.kept(layer, image).of.pool == 1:
            return self.delta_of(layer, image)
        return self.golden.sums(layer, image)

    def gradients_of(self, layer: Layer, image: int) -> Pair:
        """Gradients of a layer after an image."""
        if (layer.name, image) in self.gradients:
            return self.gradients[layer.name, image]
        return Pair(*(each.words for each in self.golden.gradients(layer, image)))
