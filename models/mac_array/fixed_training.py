"""Golden training in fixed point: one image after the other through FP, loss, KU and DP.

Images of a batch meet the same kernels, so all of them are worked out together; only gradients
are added one after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from merp.models.arithmetic.fixed import Words, to_words
from merp.models.arithmetic.random_bits import pass_seed
from merp.models.golden.initial import initial_numbers
from merp.models.golden.loss import Labels
from merp.models.golden.memory import AT_ONCE
from merp.models.mac_array import fixed_update
from merp.models.mac_array.fixed_delta import delta, expanded
from merp.models.mac_array.fixed_forward import Forward, forward
from merp.models.mac_array.fixed_loss import fixed_loss
from merp.models.mac_array.fixed_update import (
    Gradient,
    Pair,
    accumulated,
    bits_of_update,
    increments,
)
from merp.models.mac_array.kernel_order import as_stored, in_array
from merp.models.mac_array.passes import (
    Registers,
    delta_pass,
    design_of,
    forward_pass,
    update_pass,
)
from merp.models.mac_array.products import parts
from merp.models.network.branches import previous
from merp.models.network.network import Layer, Network
from merp.models.params.fixed import FIXED_TENSORS, FixedTensor
from merp.models.params.mac_array.array_pass import ArrayPass
from merp.models.params.mac_array.rates import momentum_of, rate_of

Pairs = Mapping[str, Pair]


class Clipped(NamedTuple):
    """Words of a kind of tensor that were saturated, and all that there were."""

    clipped: int
    words: int


Clipping = Mapping[str, Mapping[FixedTensor, Clipped]]
"""By layer and kind of tensor."""


@dataclass(frozen=True, kw_only=True)
class FixedModel:
    """Kernels (m, n, k, k) and biases (m,) by layer, as the network has them; and velocities."""

    parameters: Pairs
    velocities: Pairs


@dataclass(frozen=True, kw_only=True)
class FixedRates:
    """What a step's registers are made of.

    Attributes:
        rate: learning rate over the batch. momentum: 0 for none.
        seed, step: of which random bits are a hash, where new kernels are rounded with them.
    """

    rate: float
    momentum: float
    seed: int
    step: int

    def registers(self, layer: Layer, *, stochastic: bool) -> Registers:
        """Those of a layer's update."""
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
        model: the next one. loss: mean, before the step.
        clipping: what was saturated. vanished: of each layer, increments of gradients that rounded
            to 0 though a delta and an input were there, and all increments.
    """

    model: FixedModel
    loss: float
    clipping: Clipping
    vanished: Mapping[str, Clipped]


def initial_model(network: Network, seed: int) -> FixedModel:
    """Kernels and biases from the seed, rounded once, at rest.

    The numbers are those that float networks begin with.
    """
    pairs, rest = {}, {}
    for layer in network.layers:
        fraction = network.fixed.of(layer.name).kernel
        kernels, biases = initial_numbers(layer, seed)
        pair = Pair(to_words(kernels, fraction).words, to_words(biases, fraction).words)
        pairs[layer.name] = pair
        rest[layer.name] = Pair(*map(np.zeros_like, pair))
    return FixedModel(parameters=pairs, velocities=rest)


def run_forward(
    network: Network, images: Words, made: Pairs, loss: str | None = None
) -> list[tuple[ArrayPass, Words, Forward]]:
    """FP of all layers: pass, input maps and what came of it, each.

    loss: whose deltas follow the outputs of the last layer, if the array forms them.
    """
    kept = []
    maps = images
    for layer in network.layers:
        last = layer is network.layers[-1]
        of = forward_pass(network, layer, loss if last else None)
        maps = maps.reshape(len(maps), of.rows, of.columns, of.inputs)
        kernels, biases = made[layer.name]
        found = forward(of, maps, in_array(of, kernels), biases)
        kept.append((of, maps, found))
        maps = found.maps
    return kept


def train_step(
    network: Network,
    model: FixedModel,
    images: Words,
    labels: Labels,
    rates: FixedRates,
    loss_kind: str = "cross-entropy",
) -> FixedStep:
    """Run one step on a batch of (images, rows, columns, channels) words.

    Raises:
        BadInput: a layer has no array, or the learning rate none of its shifts.
    """
    stochastic = network.fixed.stochastic
    kept = run_forward(network, images, model.parameters, loss_kind)
    count: Counter[tuple[str, FixedTensor]] = Counter()
    words: Counter[tuple[str, FixedTensor]] = Counter()

    def note(layer: Layer, tensor: FixedTensor, clipped: int, size: int) -> None:
        count[layer.name, tensor] += clipped
        words[layer.name, tensor] += size

    for layer, (_, _, found) in zip(network.layers, kept, strict=True):
        note(layer, "map", found.clipped, found.sums.size)
    of, _, found = kept[-1]
    lost = fixed_loss(of, loss_kind, found.maps, labels)
    note(network.layers[-1], "delta", lost.clipped, lost.deltas.size)
    deltas = lost.deltas
    parameters, velocities, vanished = {}, {}, {}
    for layer, (forth, maps, found) in reversed(list(zip(network.layers, kept, strict=True))):
        sums = expanded(forth, deltas.reshape(found.maps.shape), found.places)
        of = update_pass(network, layer, rates.registers(layer, stochastic=stochastic))
        added, vanished[layer.name] = _gradients(of, maps, sums)
        words_of = len(maps) * sum(x.words.size for x in added)
        note(layer, "gradient", sum(x.clipped for x in added), words_of)
        old, moving = model.parameters[layer.name], model.velocities[layer.name]
        past = Pair(in_array(of, moving.kernels), moving.biases)
        bits = bits_of_update(of, design_of(network, layer)) if stochastic else (None, None)
        before = Pair(in_array(of, old.kernels), old.biases)
        new = [
            fixed_update.updated(of, w, v, g.words, r)
            for w, v, g, r in zip(before, past, added, bits, strict=True)
        ]
        for part in new:
            note(layer, "kernel", part.kernels_clipped, part.kernels.size)
            note(layer, "velocity", part.velocities_clipped, part.velocities.size)
        shape = old.kernels.shape
        parameters[layer.name] = Pair(as_stored(new[0].kernels, shape), new[1].kernels)
        moved = Pair(as_stored(new[0].velocities, shape), new[1].velocities)
        velocities[layer.name] = moved if of.has_momentum else moving
        front = previous(network, layer)
        if front is not None:
            back = delta_pass(network, layer)
            mask = kept[network.layers.index(front)][2].mask
            left = delta(back, sums, before.kernels, mask.reshape(maps.shape))
            note(front, "delta", left.clipped, left.maps.size)
            deltas = left.maps
    return FixedStep(
        model=FixedModel(parameters=parameters, velocities=velocities),
        loss=lost.value,
        clipping={
            layer.name: {
                tensor: Clipped(count[layer.name, tensor], words[layer.name, tensor])
                for tensor in FIXED_TENSORS
            }
            for layer in network.layers
        },
        vanished=vanished,
    )


def _gradients(of: ArrayPass, maps: Words, sums: Words) -> tuple[list[Gradient], Clipped]:
    """Gradients of kernels and biases of a batch, and increments of kernels that were 0."""
    found: list[Gradient] = []
    zeros = size = 0
    for part in parts(of, len(maps)):
        each = increments(of, maps[part], sums[part])
        zeros += int(np.count_nonzero(each.kernels == 0))
        size += each.kernels.size
        begun: list[Gradient | None] = [*found] or [None, None]
        found = [accumulated(some, before) for some, before in zip(each, begun, strict=True)]
    return found, Clipped(zeros, size)


def classify(network: Network, images: Words, made: Pairs, batch: int = AT_ONCE) -> Labels:
    """Class of the largest output of each image, the first of equals: (images,)."""
    found = []
    for low in range(0, len(images), batch):
        part = images[low : low + batch]
        outputs = run_forward(network, part, made)[-1][2].maps
        found.append(outputs.reshape(len(part), -1).argmax(axis=1))
    return np.concatenate(found).astype(np.int64)
