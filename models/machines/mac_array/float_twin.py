"""A float64 reference for training in fixed point: the same products, not rounded or saturated.

It starts with the same numbers, unrounded. Any difference in the result is therefore due to the 16
bits. It also records the largest magnitude in each tensor, which determines the number of fraction
bits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from merp.models.arithmetic.compiled import Values
from merp.models.base.fixed import FIXED_TENSORS, MOST_FRACTION, FixedTensor, Fractions
from merp.models.base.six import SIX
from merp.models.golden.initial import initial_numbers
from merp.models.golden.loss import Labels, losses_of
from merp.models.golden.memory import AT_ONCE
from merp.models.machines.mac_array.fixed_delta import expanded
from merp.models.machines.mac_array.fixed_forward import Mask, Places, maxima
from merp.models.machines.mac_array.kernel_order import as_stored, in_array
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.passes import sized
from merp.models.machines.mac_array.products import delta_sums, forward_sums, gradient_sums, parts
from merp.models.network.branches import previous
from merp.models.network.network import Layer, Network

Pairs = Mapping[str, tuple[Values, Values]]


@dataclass(frozen=True)
class Twin:
    """Kernels and biases by layer, and their velocities for gradients summed over the batch."""

    parameters: Pairs
    velocities: Pairs


@dataclass
class Largest:
    """The largest magnitude so far, by layer and tensor."""

    seen: dict[tuple[str, FixedTensor], float] = field(default_factory=lambda: defaultdict(float))

    def note(self, layer: Layer, tensor: FixedTensor, numbers: Values) -> None:
        """Include the numbers of a tensor."""
        key = layer.name, tensor
        self.seen[key] = max(self.seen[key], float(np.abs(numbers).max()))


@dataclass(frozen=True)
class _Kept:
    of: ArrayPass
    maps: Values
    outputs: Values
    mask: Mask
    places: Places


def twin_at_rest(network: Network, seed: int) -> Twin:
    """Return the initial kernels and biases of a seed, with velocities of 0."""
    pairs = {layer.name: initial_numbers(layer, seed) for layer in network.layers}
    rest = {name: (np.zeros_like(w), np.zeros_like(b)) for name, (w, b) in pairs.items()}
    return Twin(pairs, rest)


def _forward(network: Network, images: Values, made: Pairs) -> Iterator[_Kept]:
    maps = images
    for layer in network.layers:
        of = sized(network, layer)
        maps = maps.reshape(len(maps), of.rows, of.columns, of.inputs)
        kernels, biases = made[layer.name]
        sums = forward_sums(of, maps, in_array(of, kernels)) + biases
        if of.relu:
            sums = np.maximum(sums, 0.0)
        if layer.shape.relu6:
            sums = np.minimum(sums, float(SIX))
        outputs, places = maxima(sums, of.pool)
        mask = outputs > 0 if of.relu else np.ones(outputs.shape, np.bool_)
        if layer.shape.relu6:
            mask &= outputs < SIX
        yield _Kept(of, maps, outputs, mask, places)
        maps = outputs


def twin_gradients(
    network: Network, images: Values, labels: Labels, made: Pairs, kind: str, largest: Largest
) -> tuple[float, dict[str, tuple[Values, Values]]]:
    """Calculate the mean loss of a batch, and the gradients of the summed loss by layer."""
    kept = list(_forward(network, images, made))
    last = kept[-1].outputs
    losses, derivative = losses_of(kind, last.reshape(len(last), -1), labels)
    deltas, found = derivative.reshape(last.shape), {}
    for layer, each in reversed(list(zip(network.layers, kept, strict=True))):
        largest.note(layer, "map", each.outputs)
        largest.note(layer, "delta", deltas)
        sums = expanded(each.of, deltas.reshape(each.outputs.shape), each.places)
        kernels, _ = made[layer.name]
        gradients = sum(
            gradient_sums(each.of, each.maps[part], sums[part]).sum(axis=0)
            for part in parts(each.of, len(sums))
        )
        pair = as_stored(gradients, kernels.shape), sums.sum(axis=(0, 1, 2))
        found[layer.name] = pair
        for part in pair:
            largest.note(layer, "gradient", part)
        front = previous(network, layer)
        if front is not None:
            mask = kept[network.layers.index(front)].mask.reshape(each.maps.shape)
            deltas = delta_sums(each.of, sums, in_array(each.of, kernels)) * mask
    return float(losses.mean()), found


def twin_step(
    network: Network,
    twin: Twin,
    images: Values,
    labels: Labels,
    rate: float,
    momentum: float,
    kind: str,
    largest: Largest,
) -> tuple[Twin, float]:
    """Run one step and return the new parameters and the mean loss.

    ``rate`` is the learning rate divided by the batch size.
    """
    value, gradients = twin_gradients(network, images, labels, twin.parameters, kind, largest)
    parameters, velocities = dict(twin.parameters), dict(twin.velocities)
    for layer in network.layers:
        moved = [
            momentum * v + g
            for v, g in zip(twin.velocities[layer.name], gradients[layer.name], strict=True)
        ]
        new = [w - rate * v for w, v in zip(twin.parameters[layer.name], moved, strict=True)]
        for part, velocity in zip(new, moved, strict=True):
            largest.note(layer, "kernel", part)
            largest.note(layer, "velocity", velocity)
        if layer.trainable:
            parameters[layer.name] = new[0], new[1]
            velocities[layer.name] = moved[0], moved[1]
    return Twin(parameters, velocities), value


def twin_classes(network: Network, images: Values, made: Pairs) -> Labels:
    """Return the class of each image, (images,): the index of its largest output.

    Of equal outputs, the first is taken.
    """
    found = []
    for low in range(0, len(images), AT_ONCE):
        *_, last = _forward(network, images[low : low + AT_ONCE], made)
        found.append(last.outputs.reshape(len(last.outputs), -1).argmax(axis=1))
    return np.concatenate(found).astype(np.int64)


def fraction_for(largest: float) -> int:
    """Return the fraction bits, 0 to 15, that leave room for twice the largest magnitude.

    A word has 15 bits without its sign.
    """
    bits = int(np.ceil(np.log2(2 * largest))) if largest > 0 else -MOST_FRACTION
    return min(MOST_FRACTION, max(0, MOST_FRACTION - bits))


def proposed(layer: Layer, largest: Largest) -> Fractions:
    """Propose the fraction bits of a layer from the largest magnitudes of its tensors."""
    return Fractions(
        **{tensor: fraction_for(largest.seen[layer.name, tensor]) for tensor in FIXED_TENSORS}
    )
