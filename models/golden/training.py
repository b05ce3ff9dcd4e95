"""Golden model of training: forward with masks, loss, backward, update (F-CNN section II.B).

Nothing is changed in place. A step takes a model and returns the next one, so an interrupted step
leaves no half-updated model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.rates import Rates
from merp.models.base.storage import Storage
from merp.models.golden.concatenated import split, whole
from merp.models.golden.delta import delta_layer
from merp.models.golden.in_memory import in_memory, pair_in_memory
from merp.models.golden.inference import forward_layer, inputs
from merp.models.golden.initial import Parameters, parameters
from merp.models.golden.kernel_update import gradients, update
from merp.models.golden.loss import Labels, loss, right_of
from merp.models.golden.state import State, joined, keep_state
from merp.models.golden.super_layer import pooled as pooled_maps
from merp.models.golden.unpool import unpool
from merp.models.network.branches import behind, learns, next_taker, parts, receiver
from merp.models.network.network import Layer, Network


class NoSuchFactor(ValueError):
    """A factor cannot be represented in the format: it rounds to zero or infinity.

    Attributes:
        name: of the factor, as the name of an argument.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def rates_of(
    learning_rate: float,
    batch: int,
    fmt: FloatFormat,
    *,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
) -> Rates:
    """Round the factors of a step on the mean loss into the format, for sums over the batch.

    The gradient of B images is B times the gradient of their mean, and so is the velocity. The step
    on means is d = g + wd*w; v = mu*v + d; w = w - lr*v. Multiplied by B, its first two equations
    become those on sums, with B*wd in place of wd. The third one uses lr/B in place of lr.

    Args:
        learning_rate: above 0.
        momentum: 0 for none.
        weight_decay: of the L2 penalty wd/2 * sum(w*w) on the mean loss; 0 for none.

    Raises:
        NoSuchFactor: a factor rounds to infinity, or a nonzero factor rounds to zero.
    """
    over = f"over a batch of {batch} the format has no such rate"
    times = f"times a batch of {batch} the format has no such factor"
    return Rates(
        rate=_word("learning_rate", learning_rate / batch, True, over, fmt),
        momentum=_word("momentum", momentum, momentum > 0, "the format has no such factor", fmt),
        weight_decay=_word("weight_decay", weight_decay * batch, weight_decay > 0, times, fmt),
    )


def _word(name: str, factor: float, wanted: bool, message: str, fmt: FloatFormat) -> int:
    word = int(to_bits(factor + 0.0, fmt))  # -0 becomes +0, which means none
    if word == fmt.inf or (wanted and not word):
        raise NoSuchFactor(name, message)
    return word


@dataclass(frozen=True, kw_only=True)
class Model:
    """The data that a training step changes: kernels and biases by layer name, and their
    velocities.
    """

    parameters: Parameters
    velocities: Parameters

    def of(self, layer: Layer) -> Updated:
        """Return the kernels, biases and velocities of a layer."""
        return Updated(self.parameters[layer.name], self.velocities[layer.name])


def initial_model(network: Network, seed: int) -> Model:
    """Return kernels and biases from the seed, with zero velocities."""
    start = dict(parameters(network, seed))
    rest = {name: at_rest(pair).velocities for name, pair in start.items()}
    return Model(parameters=start, velocities=rest)


class LayerForward(NamedTuple):
    """Results of forward propagation of a layer: input and output, images first, and mask.

    Maps are rounded to their storage format. The mask is that of the sums before this rounding.
    """

    layer: Layer
    x: Bits
    y: Bits
    state: State


def forward(
    network: Network, images: Bits, made: Parameters, state: str = "32"
) -> tuple[list[LayerForward], Bits]:
    """Run all layers and store the data for backward propagation.

    Args:
        network: the network; a layer without a design sums like the paper's CU.
        images: (images, rows, columns, channels) words.
        made: kernels and biases of every layer, as in memory.
        state: kind of ReLU/pooling mask, one of ``traffic.count.STATES``.

    Returns:
        The stored data of each layer, in order, and the output of the last layer.
    """
    kept = []
    outputs: dict[str, Bits] = {}
    fmt, storage = network.fmt, network.storage
    for layer in network.layers:
        x, add = inputs(network, layer, images, outputs)
        unpooled = replace(layer, shape=layer.shape.up_to_relu)
        summation = network.summation(layer)
        sums = forward_layer(unpooled, x, *made[layer.name], fmt, summation, add)
        y = in_memory(pooled_maps(sums, layer.shape, fmt), "maps", fmt, storage)
        outputs[layer.name] = y
        kept.append(LayerForward(layer, x, y, keep_state(sums, layer.shape, state, fmt)))
    return kept, y


class LayerBackward(NamedTuple):
    """A layer and its deltas in backward propagation.

    - ``delta``: that of the layer's output (images, pooled rows, pooled columns, maps).
    - ``sums``: that of its sums (images, rows, columns, maps), after un-pooling and ReLU'.
    - ``start``: (images, rows, columns, groups*n), the delta of the layer's input that others have
      propagated before; the layer's own propagation starts at it. None if there is none.

    Only one of ``delta`` and ``sums`` is stored in memory, at its resolution. An engine computes
    the other one internally, or computes the stored one from it.
    """

    layer: Layer
    x: Bits
    state: State
    delta: Bits
    sums: Bits
    start: Bits | None


def propagate(
    network: Network,
    kept: Iterable[LayerForward],
    delta: Bits,
    made: Parameters,
    *,
    pooled: bool = False,
) -> Iterator[LayerBackward]:
    """Propagate a delta backward through the layers that need theirs, the last first.

    Args:
        network: the network.
        kept: the data that ``forward`` stored.
        delta: words, of the last layer's output, not yet rounded to their storage format.
        made: kernels and biases, before their update.
        pooled: whether deltas are stored at pooled resolution, as those of outputs, or as those of
            sums. With a narrower storage format the bits depend on it. Hardware needs it if not
            ``all_expand``.
    """

    def in_place(words: Bits, here: bool) -> Bits:
        return in_memory(words, "deltas", network.fmt, network.storage) if here else words

    so_far = {network.layers[-1].name: in_place(delta, pooled)}  # by layer, of its output
    for layer, x, _, state in reversed([each for each in kept if learns(network, each.layer)]):
        shape, summation = layer.shape, network.summation(layer)
        size = len(x), shape.pooled_rows, shape.pooled_columns, layer.biases
        maps = so_far.pop(layer.name).reshape(size)
        sums = in_place(unpool(maps, state, shape, network.fmt), not pooled)
        if layer.add is not None:
            so_far[layer.add] = sums
        earlier = receiver(network, layer)
        begun = None if earlier is None else so_far.get(earlier.name)
        start = None if begun is None else begun.reshape(x.shape)
        yield LayerBackward(layer, x, state, maps, sums, start)
        if earlier is not None:
            kernels, _ = made[layer.name]
            left = delta_layer(layer, sums, kernels, network.fmt, summation, start)
            # The start of the next propagation to the same output is stored unchanged.
            unfinished = next_taker(network, layer) is not None
            so_far[earlier.name] = in_place(left, pooled or unfinished)
            if not unfinished:
                size = len(x), earlier.shape.pooled_rows, earlier.shape.pooled_columns, -1
                maps = so_far.pop(earlier.name).reshape(size)
                so_far |= {part.name: own for part, own in split(network, earlier, maps)}


def leaves(
    network: Network, layer: Layer, passed: Callable[[Layer], LayerBackward], *, pooled: bool
) -> Bits:
    """Return the output of the delta propagation of a layer: (images, rows, columns, maps) words.

    If it is the last propagation to a layer in front, it is the delta of that layer's output. If
    deltas are not stored pooled, it is the delta of that layer's sums, after un-pooling and ReLU'.
    Earlier propagations return the start of the next one, of the size of the output. ``passed``
    returns deltas of a propagation at the same resolution.
    """
    earlier = behind(network, layer)
    taker = next_taker(network, layer)
    if taker is None:
        return whole(
            network, earlier, lambda part: passed(part).delta if pooled else passed(part).sums
        )
    start = passed(taker).start
    assert start is not None
    return start.reshape(len(start), earlier.shape.rows, earlier.shape.columns, -1)


def state_behind(network: Network, layer: Layer, state: Callable[[Layer], State]) -> State:
    """Return the mask for un-pooling and ReLU' at the output of a layer's delta propagation."""
    earlier = behind(network, layer)
    if next_taker(network, layer) is not None:
        return State(kind="pooled")
    return joined([state(part) for part, _ in parts(network, earlier)])


def gradients_of(network: Network, passed: LayerBackward) -> tuple[Bits, Bits]:
    """Return the gradients of a layer's kernels and biases, summed over the batch.

    They are arranged like its parameters.
    """
    layer = passed.layer
    return gradients(layer, passed.x, passed.sums, network.fmt, network.summation(layer))


class Updated(NamedTuple):
    """The data that a kernel update changes: kernels and biases of a layer, and their
    velocities.
    """

    parameters: tuple[Bits, Bits]
    velocities: tuple[Bits, Bits]


def at_rest(parameters: tuple[Bits, Bits]) -> Updated:
    """Return kernels and biases with velocities of +0."""
    kernels, biases = parameters
    return Updated(parameters, (np.zeros_like(kernels), np.zeros_like(biases)))


def updated(
    old: Updated,
    found: tuple[Bits, Bits],
    rates: Rates,
    fmt: FloatFormat,
    storage: Storage | None = None,
) -> Updated:
    """Apply gradients of kernels and biases, of a layer or of some of its maps.

    Without momentum the velocities are neither read nor written; they do not change. Inputs and
    outputs have their storage formats. Kernels are computed from velocities before these are
    rounded.
    """
    past = old if rates.rule.momentum else at_rest(old.parameters)
    kernels, biases = (
        update(w, v, g, rates, fmt)
        for w, v, g in zip(old.parameters, past.velocities, found, strict=True)
    )
    new = pair_in_memory((kernels[0], biases[0]), "kernels", fmt, storage)
    if not rates.rule.momentum:
        return Updated(new, old.velocities)
    return Updated(new, pair_in_memory((kernels[1], biases[1]), "gradients", fmt, storage))


@dataclass(frozen=True, kw_only=True)
class Minibatch:
    """Forward and backward propagation of a batch, before any update.

    Attributes:
        network: the trained network.
        kept: of each layer, in order.
        output: of the last layer.
        loss: mean, before the step.
        right: images of the batch that were classified correctly, before the step.
        passed: of each layer whose delta is needed, by name.
    """

    network: Network
    kept: Sequence[LayerForward]
    output: Bits
    loss: float
    right: int
    passed: Mapping[str, LayerBackward]

    def gradients(self, layer: Layer) -> tuple[Bits, Bits]:
        """Compute the gradients of a layer's kernels and biases, summed over the batch."""
        return gradients_of(self.network, self.of(layer))

    def y(self, layer: Layer) -> Bits:
        """Return the output of a layer: (images, pooled rows, pooled columns, maps)."""
        return next(kept.y for kept in self.kept if kept.layer.name == layer.name)

    def of(self, layer: Layer) -> LayerBackward:
        """Return the deltas of a layer."""
        return self.passed[layer.name]

    def state(self, layer: Layer) -> State:
        """Return the ReLU/pooling mask of a layer."""
        return next(kept.state for kept in self.kept if kept.layer.name == layer.name)

    def left(self, layer: Layer) -> Bits:
        """Return the output of its delta propagation, if deltas are stored pooled."""
        return leaves(self.network, layer, self.of, pooled=True)


@dataclass(frozen=True, kw_only=True)
class Step(Minibatch):
    """A training step and all its intermediate results.

    Attributes:
        model: the next one; frozen layers keep their words.
    """

    model: Model

    @classmethod
    def of_minibatch(cls, found: Minibatch, model: Model) -> Step:
        """Return the step that ended in ``model``."""
        return cls(**vars(found), model=model)

    def updated(self, layer: Layer) -> Updated:
        """Return the updated parameters and velocities of a layer."""
        return self.model.of(layer)


def run_minibatch(
    network: Network,
    model: Model,
    images: Bits,
    labels: Labels,
    loss_kind: str = "cross-entropy",
    state: str = "32",
    *,
    pooled: bool = False,
) -> Minibatch:
    """Run forward and backward propagation of a batch.

    Arguments are those of ``train_step``.
    """
    kept, output = forward(network, images, model.parameters, state)
    value, delta = loss(loss_kind, output, labels, network.fmt)
    passed = propagate(network, kept, delta, model.parameters, pooled=pooled)
    return Minibatch(
        network=network,
        kept=kept,
        output=output,
        loss=value,
        right=right_of(to_values(output, network.fmt), labels),
        passed={each.layer.name: each for each in passed},
    )


def model_after(
    network: Network,
    model: Model,
    gradients: Callable[[Layer], tuple[Bits, Bits]],
    rates: Rates,
) -> Model:
    """Update every trainable layer by its gradients."""
    changed, moved = dict(model.parameters), dict(model.velocities)
    for layer in network.layers:
        if layer.trainable:
            found = gradients(layer)
            changed[layer.name], moved[layer.name] = updated(
                model.of(layer), found, rates, network.fmt, network.storage
            )
    return Model(parameters=changed, velocities=moved)


def train_step(
    network: Network,
    model: Model,
    images: Bits,
    labels: Labels,
    rates: Rates,
    loss_kind: str = "cross-entropy",
    state: str = "32",
    *,
    pooled: bool = False,
) -> Step:
    """Run one step on a batch.

    images: (images, rows, columns, channels) words; labels: (images,) classes. pooled: as in
    ``propagate``.
    """
    found = run_minibatch(network, model, images, labels, loss_kind, state, pooled=pooled)
    return Step.of_minibatch(found, model_after(network, model, found.gradients, rates))


def outputs(network: Network, images: Bits, made: Parameters) -> Bits:
    """Return the outputs of the last layer, by the forward propagation of a training step.

    images: (images, rows, columns, channels) words. The result is (images, outputs) words.
    """
    _, output = forward(network, images, made)
    return output.reshape(len(images), -1)


RATE = 0.01  # learning rate of the step, of the mean loss
