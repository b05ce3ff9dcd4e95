"""Golden training in fixed point: each image passes through FP, loss, KU and DP.

All images of a batch use the same kernels. Therefore the model calculates them together, and only
adds their gradients one image after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from merp.models.arithmetic.fixed import Words, to_words
from merp.models.arithmetic.random_bits import pass_seed
from merp.models.base.fixed import FIXED_TENSORS, FixedTensor
from merp.models.golden.initial import initial_numbers
from merp.models.golden.loss import Labels, right_of
from merp.models.machines.mac_array.fixed_delta import ArrayDeltas, delta, expanded
from merp.models.machines.mac_array.fixed_forward import ArrayMaps, forward
from merp.models.machines.mac_array.fixed_loss import fixed_loss
from merp.models.machines.mac_array.fixed_update import (
    ArrayGradient,
    ArrayUpdate,
    Pair,
    accumulated,
    bits_of_update,
    increments,
    updated,
)
from merp.models.machines.mac_array.kernel_order import as_stored, in_array
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.rates import momentum_of, rate_of
from merp.models.machines.mac_array.passes import (
    Registers,
    delta_pass,
    design_of,
    forward_pass,
    update_pass,
)
from merp.models.machines.mac_array.products import parts
from merp.models.network.branches import learns, receiver
from merp.models.network.network import Layer, Network

Pairs = Mapping[str, Pair]


class Clipped(NamedTuple):
    """The number of saturated words of a kind of tensor, and the number of all its words."""

    clipped: int
    words: int

    def plus(self, more: Clipped) -> Clipped:
        """Return the sum of both counts."""
        return Clipped(self.clipped + more.clipped, self.words + more.words)

    @property
    def share(self) -> float:
        """The saturated share of all words; 0 without words."""
        return self.clipped / self.words if self.words else 0.0


Clipping = Mapping[str, Mapping[FixedTensor, Clipped]]
"""Saturated words by layer and kind of tensor."""


@dataclass(frozen=True, kw_only=True)
class FixedModel:
    """Kernels (m, n, k, k) and biases (m,) by layer, in the network's order, and velocities."""

    parameters: Pairs
    velocities: Pairs


@dataclass(frozen=True, kw_only=True)
class FixedRates:
    """The parameters of a training step, from which its registers are calculated.

    Attributes:
        rate: learning rate divided by the batch size.
        momentum: 0 for none.
        seed, step: the random bits of stochastic rounding are a hash of these numbers.
    """

    rate: float
    momentum: float
    seed: int
    step: int

    def registers(self, layer: Layer, *, stochastic: bool) -> Registers:
        """Return the registers of a layer's update."""
        rate = rate_of(self.rate)
        return Registers(
            rate=rate.mantissa,
            exponent=rate.exponent,
            momentum=momentum_of(self.momentum) if self.momentum else None,
            seed=pass_seed(self.seed, self.step, layer.name) if stochastic else None,
        )


@dataclass(frozen=True, kw_only=True)
class FixedStep:
    """A training step.

    Attributes:
        model: kernels, biases and velocities after the step.
        loss: mean loss before the step.
        right: images of the batch that were classified correctly, before the step.
        clipping: saturated words.
        vanished: for each layer, the increments of kernel gradients that were 0, and all of them.
    """

    model: FixedModel
    loss: float
    right: int
    clipping: Clipping
    vanished: Mapping[str, Clipped]


def initial_model(network: Network, seed: int) -> FixedModel:
    """Return kernels and biases from the seed, rounded once, with velocities of 0.

    Before rounding, they are the initial numbers of floating-point networks.
    """
    pairs = {}
    for layer in network.layers:
        fraction = network.fixed.of(layer.name).kernel
        kernels, biases = initial_numbers(layer, seed)
        pairs[layer.name] = Pair(
            to_words(kernels, fraction).words, to_words(biases, fraction).words
        )
    return at_rest(pairs)


def at_rest(parameters: Pairs) -> FixedModel:
    """Return kernels and biases with velocities of 0."""
    rest = {name: Pair(*map(np.zeros_like, pair)) for name, pair in parameters.items()}
    return FixedModel(parameters=parameters, velocities=rest)


class ArrayForward(NamedTuple):
    """FP of a layer: the pass, its input maps in the array's order, and its results."""

    layer: Layer
    of: ArrayPass
    maps: Words
    found: ArrayMaps


class LayerUpdate(NamedTuple):
    """Kernel update of a layer.

    Attributes:
        of: the KU pass.
        gradients: gradients of kernels and biases for the whole batch.
        vanished: increments of kernel gradients that were 0, and all of them.
        new: new kernels, in the array's order, and new biases.
    """

    of: ArrayPass
    gradients: tuple[ArrayGradient, ArrayGradient]
    vanished: Clipped
    new: tuple[ArrayUpdate, ArrayUpdate]


class ArrayBackward(NamedTuple):
    """Backward propagation of a layer.

    Attributes:
        layer: the layer.
        update: its update; None if it is frozen.
        left: deltas of the previous layer's output; None if they are not needed.
    """

    layer: Layer
    update: LayerUpdate | None
    left: ArrayDeltas | None


def run_forward(
    network: Network, images: Words, made: Pairs, loss: str | None = None
) -> list[ArrayForward]:
    """Run FP of all layers, in order.

    Args:
        network: the network.
        images: (images, rows, columns, channels).
        made: kernels and biases by layer.
        loss: the loss whose deltas follow the outputs of the last layer, if the array calculates
            them.
    """
    kept = []
    maps = images
    for layer in network.layers:
        last = layer is network.layers[-1]
        of = forward_pass(network, layer, loss if last else None)
        maps = maps.reshape(len(maps), of.rows, of.columns, of.inputs)
        kernels, biases = made[layer.name]
        kept.append(ArrayForward(layer, of, maps, forward(of, maps, in_array(of, kernels), biases)))
        maps = kept[-1].found.maps
    return kept


def run_backward(
    network: Network,
    kept: Sequence[ArrayForward],
    deltas: Words,
    model: FixedModel,
    rates: FixedRates,
) -> Iterator[ArrayBackward]:
    """Run KU and DP of the layers that need their deltas, starting with the last one.

    ``deltas`` belong to the outputs of the last layer.
    """
    masks = {each.layer.name: each.found.mask for each in kept}
    for layer, forth, maps, found in reversed([each for each in kept if learns(network, each[0])]):
        sums = expanded(forth, deltas.reshape(found.maps.shape), found.places)
        update = layer_update(network, layer, maps, sums, model, rates) if layer.trainable else None
        front, left = receiver(network, layer), None
        if front is not None:
            of, mask = delta_pass(network, layer), masks[front.name].reshape(maps.shape)
            left = delta(of, sums, in_array(of, model.parameters[layer.name].kernels), mask)
            deltas = left.maps
        yield ArrayBackward(layer, update, left)


def layer_update(
    network: Network, layer: Layer, maps: Words, sums: Words, model: FixedModel, rates: FixedRates
) -> LayerUpdate:
    """Run KU of a layer, given its input maps and the deltas of its sums, for a batch."""
    stochastic = network.fixed.stochastic
    of = update_pass(network, layer, rates.registers(layer, stochastic=stochastic))
    gradients, vanished = _gradients(of, maps, sums)
    old, moving = model.parameters[layer.name], model.velocities[layer.name]
    bits = bits_of_update(of, design_of(network, layer)) if stochastic else (None, None)
    kernels, velocities = in_array(of, old.kernels), in_array(of, moving.kernels)
    new = (
        updated(of, kernels, velocities, gradients[0].words, bits[0]),
        updated(of, old.biases, moving.biases, gradients[1].words, bits[1]),
    )
    return LayerUpdate(of, gradients, vanished, new)


class _Tally:
    """Count of saturated words by layer and tensor."""

    def __init__(self, network: Network) -> None:
        names = [layer.name for layer in network.layers]
        self.found = {name: dict.fromkeys(FIXED_TENSORS, Clipped(0, 0)) for name in names}

    def note(self, layer: Layer, tensor: FixedTensor, clipped: int, words: int) -> None:
        """Add saturated words and all words of a tensor to the count."""
        so_far = self.found[layer.name][tensor]
        self.found[layer.name][tensor] = so_far.plus(Clipped(clipped, words))

    def passed(self, images: int, front: Layer | None, back: ArrayBackward) -> None:
        """Add the words that were saturated in a layer's backward propagation to the count."""
        layer = back.layer
        if back.update is not None:
            gradients = back.update.gradients
            words = images * sum(each.words.size for each in gradients)
            self.note(layer, "gradient", sum(each.clipped for each in gradients), words)
            for new in back.update.new:
                self.note(layer, "kernel", new.kernels_clipped, new.kernels.size)
                self.note(layer, "velocity", new.velocities_clipped, new.velocities.size)
        if front is not None and back.left is not None:
            self.note(front, "delta", back.left.clipped, back.left.maps.size)


def train_step(
    network: Network,
    model: FixedModel,
    images: Words,
    labels: Labels,
    rates: FixedRates,
    loss_kind: str = "cross-entropy",
) -> FixedStep:
    """Run one step on a batch of (images, rows, columns, channels) words.

    Frozen layers keep their words.

    Raises:
        BadInput: a layer has no design of the array.
        ValueError: the learning rate needs a shift out of range.
    """
    tally = _Tally(network)
    kept = run_forward(network, images, model.parameters, loss_kind)
    for each in kept:
        tally.note(each.layer, "map", each.found.clipped, each.found.sums.size)
    last = kept[-1]
    lost = fixed_loss(last.of, loss_kind, last.found.maps, labels)
    tally.note(last.layer, "delta", lost.clipped, lost.deltas.size)
    parameters, velocities = dict(model.parameters), dict(model.velocities)
    vanished = dict.fromkeys(parameters, Clipped(0, 0))
    for back in run_backward(network, kept, lost.deltas, model, rates):
        tally.passed(len(images), receiver(network, back.layer), back)
        if back.update is None:
            continue
        name, (kernels, biases) = back.layer.name, back.update.new
        vanished[name] = back.update.vanished
        shape = parameters[name].kernels.shape
        parameters[name] = Pair(as_stored(kernels.kernels, shape), biases.kernels)
        if back.update.of.has_momentum:
            velocities[name] = Pair(as_stored(kernels.velocities, shape), biases.velocities)
    return FixedStep(
        model=FixedModel(parameters=parameters, velocities=velocities),
        loss=lost.value,
        right=right_of(last.found.maps.astype(np.float64), labels),
        clipping=tally.found,
        vanished=vanished,
    )


def _gradients(
    of: ArrayPass, maps: Words, sums: Words
) -> tuple[tuple[ArrayGradient, ArrayGradient], Clipped]:
    """Return a batch's gradients of kernels and biases, and the kernel increments that were 0."""
    kernels = biases = None
    zeros = size = 0
    for part in parts(of, len(maps)):
        each = increments(of, maps[part], sums[part])
        zeros += int(np.count_nonzero(each.kernels == 0))
        size += each.kernels.size
        kernels = accumulated(each.kernels, kernels)
        biases = accumulated(each.biases, biases)
    if kernels is None or biases is None:
        raise ValueError("a step needs at least one image")
    return (kernels, biases), Clipped(zeros, size)


def outputs(network: Network, images: Words, made: Pairs) -> Words:
    """Return the outputs of the last layer, (images, outputs), by the FP of a training step."""
    return run_forward(network, images, made)[-1].found.maps.reshape(len(images), -1)
