"""Golden training: forward with state, loss, backward, update (F-CNN section II.B).

Nothing is changed in place: a step takes a model and gives the next one, so that an interrupted
step leaves no half-updated model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from merp.models.arithmetic.words import to_bits, to_values
from merp.models.golden.delta import delta_layer
from merp.models.golden.inference import as_input, forward_layer
from merp.models.golden.initial import Parameters, parameters
from merp.models.golden.kernel_update import gradients, update
from merp.models.golden.loss import Labels, loss
from merp.models.golden.memory import AT_ONCE
from merp.models.golden.pooling import pool_maps
from merp.models.golden.state import State, keep_state
from merp.models.golden.unpool import unpool
from merp.models.network.network import Layer, Network
from merp.models.params.bits import Bits
from merp.models.params.formats import FloatFormat


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Hyperparameters of stochastic gradient descent, as the hardware's registers hold them.

    Attributes:
        rate: word of the learning rate over the batch size, as gradients are sums.
        momentum: word of the momentum; +0 for none.
    """

    rate: int
    momentum: int

    @classmethod
    def of(cls, learning_rate: float, momentum: float, batch: int, fmt: FloatFormat) -> Rates:
        """Round a learning rate (of the mean loss) and a momentum into the format.

        Raises:
            ValueError: the rate over the batch size rounds to zero or infinity.
        """
        rate, word = (int(each) for each in to_bits([learning_rate / batch, momentum], fmt))
        if rate in (0, fmt.inf):
            raise ValueError(f"over a batch of {batch} the format has no such rate")
        return cls(rate=rate, momentum=word)


@dataclass(frozen=True, kw_only=True)
class Model:
    """What a training step changes: kernels and biases by layer name, and their velocities."""

    parameters: Parameters
    velocities: Parameters


def initial_model(network: Network, seed: int) -> Model:
    """Kernels and biases from the seed, at rest."""
    start = dict(parameters(network, seed))
    rest = {
        name: (np.zeros_like(kernels), np.zeros_like(biases))
        for name, (kernels, biases) in start.items()
    }
    return Model(parameters=start, velocities=rest)


class Kept(NamedTuple):
    """What the backward phases need of a layer: its input (images first) and its state."""

    layer: Layer
    x: Bits
    state: State


def forward(
    network: Network, images: Bits, made: Parameters, state: str = "32"
) -> tuple[list[Kept], Bits]:
    """Run all layers and keep what the way back needs.

    Args:
        network: the network; a layer without a design sums as the paper's CU does.
        images: (images, rows, columns, channels) words.
        made: kernels and biases of every layer.
        state: kind of state, one of ``traffic.footing.STATES``.

    Returns:
        What is kept of each layer, in order, and the output of the last.
    """
    kept = []
    maps = images
    for layer in network.layers:
        x = as_input(maps, layer)
        unpooled = replace(layer, shape=replace(layer.shape, pool=None))
        maps = forward_layer(unpooled, x, *made[layer.name], network.fmt, network.summation(layer))
        kept.append(Kept(layer, x, keep_state(maps, layer.shape, state, network.fmt)))
        maps = pool_maps(maps, layer.shape.pool, network.fmt)
    return kept, maps


class Passed(NamedTuple):
    """A layer that a delta has passed on its way back.

    ``delta`` is that of the layer's output (images, pooled rows, pooled columns, maps), ``sums``
    that of its sums (images, rows, columns, maps), behind un-pooling and ReLU'.
    """

    layer: Layer
    x: Bits
    state: State
    delta: Bits
    sums: Bits


def propagate(
    network: Network, kept: Iterable[Kept], delta: Bits, made: Parameters
) -> Iterator[Passed]:
    """Propagate a delta back through every layer, the last first.

    Args:
        network: the network.
        kept: what ``forward`` kept.
        delta: words, of the last layer's output.
        made: kernels and biases, before their update.
    """
    for layer, x, state in reversed(list(kept)):
        shape = layer.shape
        maps = delta.reshape(len(x), shape.pooled_rows, shape.pooled_columns, layer.biases)
        sums = unpool(maps, state, shape, network.fmt)
        yield Passed(layer, x, state, maps, sums)
        if layer is not network.layers[0]:
            kernels, _ = made[layer.name]
            delta = delta_layer(layer, sums, kernels, network.fmt, network.summation(layer))


class Gradient(NamedTuple):
    """Gradients of a layer that a delta has passed, summed over the batch: as its parameters."""

    passed: Passed
    kernels: Bits
    biases: Bits


def backward(
    network: Network, kept: Iterable[Kept], delta: Bits, made: Parameters
) -> Iterator[Gradient]:
    """Propagate a delta back and work out every layer's gradients, the last layer's first.

    Arguments as of ``propagate``.
    """
    for passed in propagate(network, kept, delta, made):
        summation = network.summation(passed.layer)
        found = gradients(passed.layer, passed.x, passed.sums, network.fmt, summation)
        yield Gradient(passed, *found)


@dataclass(frozen=True, kw_only=True)
class Step:
    """A training step and all that was worked out on the way.

    Attributes:
        kept: of each layer, in order. output: of the last layer. loss: mean, before the step.
        passed: of each layer, by name. model: the next one.
    """

    kept: Sequence[Kept]
    output: Bits
    loss: float
    passed: Mapping[str, Passed]
    model: Model


def train_step(
    network: Network,
    model: Model,
    images: Bits,
    labels: Labels,
    rates: Rates,
    loss_kind: str = "cross-entropy",
    state: str = "32",
) -> Step:
    """Run one step on a batch.

    Without momentum the velocities are neither read nor written, and stay as they are.

    images: (images, rows, columns, channels) words; labels: (images,) classes.
    """
    fmt = network.fmt
    kept, output = forward(network, images, model.parameters, state)
    value, delta = loss(loss_kind, output, labels, fmt)
    passed, changed, moved = {}, {}, {}
    for here, *found in backward(network, kept, delta, model.parameters):
        name = here.layer.name
        now, speed = model.parameters[name], model.velocities[name]
        new = [
            update(w, v if rates.momentum else np.zeros_like(v), g, rates.rate, rates.momentum, fmt)
            for w, v, g in zip(now, speed, found, strict=True)
        ]
        passed[name] = here
        changed[name] = new[0][0], new[1][0]
        moved[name] = (new[0][1], new[1][1]) if rates.momentum else speed
    return Step(
        kept=kept,
        output=output,
        loss=value,
        passed=passed,
        model=Model(parameters=changed, velocities=moved),
    )


def classify(network: Network, images: Bits, made: Parameters, batch: int = AT_ONCE) -> Labels:
    """Class of the largest score of each image, the first of equals: (images,)."""
    found = []
    for low in range(0, len(images), batch):
        _, output = forward(network, images[low : low + batch], made)
        found.append(to_values(output, network.fmt).reshape(len(output), -1).argmax(axis=1))
    return np.concatenate(found).astype(np.int64)


RATE = 0.01  # learning rate of the step, of the mean loss
