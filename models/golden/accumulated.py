"""Golden model of a step of several minibatches: one update by the sum of their gradients.

F-CNN section III: a module is loaded once for several minibatches. All of them have the same
kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from merp.models.arithmetic.fp_add import fp_add
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.ordered_sum import ordered_sum
from merp.models.base.rates import Rates
from merp.models.golden.loss import Labels
from merp.models.golden.training import Minibatch, Model, model_after, run_minibatch
from merp.models.network.network import Network

Gradients = Mapping[str, tuple[Bits, Bits]]
"""Gradients of kernels and biases by layer name."""


def minibatches(images: Bits, labels: Labels, count: int) -> Iterator[tuple[Bits, Labels]]:
    """Yield images and labels of ``count`` minibatches of the same size, in their order.

    Raises:
        ValueError: the number of images is not a multiple of ``count``.
    """
    if len(images) % count:
        raise ValueError(f"{len(images)} images do not divide into {count} minibatches")
    yield from zip(np.split(images, count), np.split(labels, count), strict=True)


def mean_loss(losses: Sequence[float]) -> float:
    """Return the mean over all images, from the mean losses of minibatches of the same size."""
    return ordered_sum(losses) / len(losses)


def added(so_far: Gradients, more: Gradients, fmt: FloatFormat) -> Gradients:
    """Add the gradients of a minibatch to those of earlier ones, rounding to nearest.

    Args:
        so_far: the sum; empty before the first minibatch, whose gradients start it.
        more: gradients of the next minibatch.
        fmt: their format.
    """
    if not so_far:
        return more
    return {
        name: (fp_add(so_far[name][0], kernels, fmt), fp_add(so_far[name][1], biases, fmt))
        for name, (kernels, biases) in more.items()
    }


def run_minibatches(
    network: Network,
    model: Model,
    images: Bits,
    labels: Labels,
    count: int,
    loss_kind: str = "cross-entropy",
    state: str = "32",
    *,
    pooled: bool = False,
) -> Iterator[Minibatch]:
    """Run one minibatch after the other, all with the same kernels.

    Args:
        network, model, loss_kind, state, pooled: as in ``train_step``.
        images, labels: of all minibatches.
        count: number of minibatches.
    """
    for x, wanted in minibatches(images, labels, count):
        yield run_minibatch(network, model, x, wanted, loss_kind, state, pooled=pooled)


class AccumulatedStep(NamedTuple):
    """A step of several minibatches.

    Attributes:
        model: the next one.
        loss: mean over all images, before the step.
        right: images that were classified correctly, before the step.
    """

    model: Model
    loss: float
    right: int


def accumulated_step(
    network: Network, model: Model, found: Iterable[Minibatch], rates: Rates
) -> AccumulatedStep:
    """Add the gradients of minibatches in their order, and update the model once.

    Args:
        network: the network.
        model: the model of all minibatches.
        found: the minibatches. Only one of them is in memory if an iterator runs them.
        rates: those of a batch of all images.
    """
    losses, right = [], 0
    sums: Gradients = {}
    for each in found:
        trained = (layer for layer in network.layers if layer.trainable)
        sums = added(sums, {of.name: each.gradients(of) for of in trained}, network.fmt)
        losses.append(each.loss)
        right += each.right
    after = model_after(network, model, lambda layer: sums[layer.name], rates)
    return AccumulatedStep(after, mean_loss(losses), right)
