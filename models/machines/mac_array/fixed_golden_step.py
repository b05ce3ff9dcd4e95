"""Golden training step in fixed point, image by image: inputs and expected outputs of each pass.

It follows the same rules as ``fixed_training``, which calculates all images of a batch together.
"""

from __future__ import annotations

from typing import NamedTuple

from merp.models.arithmetic.fixed import Words
from merp.models.golden.loss import Labels
from merp.models.machines.mac_array.fixed_delta import ArrayDeltas, delta, expanded
from merp.models.machines.mac_array.fixed_loss import Loss, fixed_loss
from merp.models.machines.mac_array.fixed_training import (
    ArrayForward,
    FixedModel,
    FixedRates,
    run_forward,
)
from merp.models.machines.mac_array.fixed_update import (
    ArrayGradient,
    ArrayUpdate,
    Pair,
    accumulated,
    bits_of_update,
    increments,
    updated,
)
from merp.models.machines.mac_array.kernel_order import in_array
from merp.models.machines.mac_array.passes import Registers, delta_pass, design_of, update_pass
from merp.models.network.branches import previous, receiver
from merp.models.network.network import Layer, Network


class Gradients(NamedTuple):
    """Gradients of kernels and biases after an image; ``clipped`` counts that image's words."""

    kernels: ArrayGradient
    biases: ArrayGradient


class FixedGoldenStep:
    """A training step whose parts are calculated on first use, because one layer needs few parts.

    All arrays belong to one image. They keep a first axis of length 1.

    Attributes:
        network: the network to train.
        model: kernels, biases and velocities before the step.
        rates: learning rate and momentum of the update.
        loss_kind: a loss of ``models.golden.loss``.
    """

    def __init__(
        self,
        network: Network,
        images: Words,
        labels: Labels,
        model: FixedModel,
        rates: FixedRates,
        loss_kind: str = "cross-entropy",
    ) -> None:
        """Prepare a step on ``images``, words (images, rows, columns, channels), and ``labels``."""
        self.network, self.model, self.loss_kind = network, model, loss_kind
        self._images, self._labels, self.rates = images, labels, rates
        self._kept: dict[int, dict[str, ArrayForward]] = {}
        self._deltas: dict[tuple[str, int], Words] = {}
        self._left: dict[tuple[str, int], ArrayDeltas] = {}
        self._gradients: dict[tuple[str, int], Gradients] = {}
        self._updated: dict[str, tuple[ArrayUpdate, ArrayUpdate]] = {}

    @property
    def images(self) -> int:
        """Number of images of the batch."""
        return len(self._images)

    def image(self, image: int) -> Words:
        """Return the words of one image."""
        return self._images[image : image + 1]

    def label(self, image: int) -> Labels:
        """Return the class of one image."""
        return self._labels[image : image + 1]

    def kept(self, layer: Layer, image: int) -> ArrayForward:
        """Return the results of FP of a layer."""
        if image not in self._kept:
            found = run_forward(
                self.network, self.image(image), self.model.parameters, self.loss_kind
            )
            self._kept[image] = {each.layer.name: each for each in found}
        return self._kept[image][layer.name]

    def lost(self, image: int, outputs: Words) -> Loss:
        """Return the loss of an image, and the deltas of ``outputs``, those of the last layer."""
        last = self.kept(self.network.layers[-1], image)
        return fixed_loss(last.of, self.loss_kind, outputs, self.label(image))

    def deltas(self, layer: Layer, image: int) -> Words:
        """Return the deltas of a layer's outputs."""
        key = layer.name, image
        if key not in self._deltas:
            maps = self.kept(layer, image).found.maps
            behind = next(
                (each for each in self.network.layers if previous(self.network, each) is layer),
                None,
            )
            found = (
                self.lost(image, maps).deltas if behind is None else self.left(behind, image).maps
            )
            self._deltas[key] = found.reshape(maps.shape)
        return self._deltas[key]

    def sums(self, layer: Layer, image: int) -> Words:
        """Return the deltas of a layer's sums."""
        forth = self.kept(layer, image)
        return expanded(forth.of, self.deltas(layer, image), forth.found.places)

    def left(self, layer: Layer, image: int) -> ArrayDeltas:
        """Return the results of DP of a layer: the deltas of its input maps."""
        key, front = (layer.name, image), receiver(self.network, layer)
        if key not in self._left:
            assert front is not None
            of = delta_pass(self.network, layer)
            mask = self.kept(front, image).found.mask.reshape(-1, of.rows, of.columns, of.inputs)
            kernels = in_array(of, self.model.parameters[layer.name].kernels)
            self._left[key] = delta(of, self.sums(layer, image), kernels, mask)
        return self._left[key]

    def registers(self, layer: Layer) -> Registers:
        """Return the registers of a layer's update that the network does not define."""
        return self.rates.registers(layer, stochastic=self.network.fixed.stochastic)

    def gradients(self, layer: Layer, image: int) -> Gradients:
        """Return the gradients of a layer after an image."""
        key = layer.name, image
        if key not in self._gradients:
            forth = self.kept(layer, image)
            of = update_pass(self.network, layer, self.registers(layer))
            before = self.gradients(layer, image - 1) if image else None
            added = increments(of, forth.maps, self.sums(layer, image))
            self._gradients[key] = Gradients(
                *(
                    accumulated(
                        each, None if before is None else ArrayGradient(before[place].words, 0)
                    )
                    for place, each in enumerate(added)
                )
            )
        return self._gradients[key]

    def before(self, layer: Layer) -> tuple[Pair, Pair]:
        """Return the old kernels and biases in the array's order, and their velocities."""
        of = update_pass(self.network, layer, self.registers(layer))
        pairs = self.model.parameters[layer.name], self.model.velocities[layer.name]
        old, moving = (Pair(in_array(of, each.kernels), each.biases) for each in pairs)
        return old, moving

    def updated(self, layer: Layer) -> tuple[ArrayUpdate, ArrayUpdate]:
        """Return the update of the kernels, in the array's order, and of the biases."""
        if layer.name not in self._updated:
            of = update_pass(self.network, layer, self.registers(layer))
            stochastic = self.network.fixed.stochastic
            bits = bits_of_update(of, design_of(self.network, layer)) if stochastic else (None,) * 2
            old, moving = self.before(layer)
            summed = self.gradients(layer, self.images - 1)
            kernels, biases = (
                updated(of, old[place], moving[place], summed[place].words, bits[place])
                for place in range(2)
            )
            self._updated[layer.name] = kernels, biases
        return self._updated[layer.name]
