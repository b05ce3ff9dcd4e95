"""Labelled images for training: checks against the network, words, the split."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.base.errors import BadInput
from merp.models.golden.loss import Labels
from merp.models.golden.memory import AT_ONCE
from merp.models.network.network import Network
from merp.tools.train.arithmetic import Words, arithmetic_of
from merp.tools.train.datasets.data import Data

HELD_OUT = 5  # one of five images is never used for training


class Split(NamedTuple):
    """Images as words, and labels, for training and held out."""

    images: Words
    labels: Labels
    held_images: Words
    held_labels: Labels


def split(data: Data, network: Network, validation: Data | None = None) -> Split:
    """Check the data against the network and hold out a fifth, which does not depend on the seed.

    The order is shuffled first, because data sets are often sorted or cyclic. If ``validation`` is
    given, or the data have images for it, these are held out, and all others train.

    Raises:
        BadInput: labels do not fit the network. Its format does not hold a number. There are too
            few images. Or classes have other names in ``validation``.
    """
    held_out = validation or data.held
    words = _words(data, network, HELD_OUT if held_out is None else 1)
    if held_out is not None:
        _check_classes(data, held_out)
        return Split(words, data.labels, _words(held_out, network, 1), held_out.labels)
    held, kept = held_apart(len(words))
    return Split(words[kept], data.labels[kept], words[held], data.labels[held])


def _check_classes(data: Data, held_out: Data) -> None:
    """Check that a class has the same number in both."""
    ours, theirs = data.classes, held_out.classes
    if ours and theirs and ours != theirs:
        differing = sorted({*ours} ^ {*theirs})
        raise BadInput(
            f"{held_out.source}: class {differing[0]}: only in one of {data.source} and "
            f"{held_out.source}: allowed are the same folders"
        )


def held_apart(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the held-out images among ``count`` images, and of the others."""
    held, kept = np.split(np.random.default_rng(0).permutation(count), [count // HELD_OUT])
    return held, kept


def _words(data: Data, network: Network, fewest: int) -> Words:
    """Return the images as words, all checked against the network."""
    check_labels(data, network, fewest)
    return image_words(data, network)


def image_words(data: Data, network: Network) -> Words:
    """Return the images as words. They are converted part by part, to save memory.

    Raises:
        BadInput: the network's format does not hold a number.
    """
    convert, count = arithmetic_of(network).image_words, len(data.images)
    found = convert(data.where, data.part(slice(0, AT_ONCE)))
    words = np.empty((count, *found.shape[1:]), found.dtype)
    words[:AT_ONCE] = found
    for low in range(AT_ONCE, count, AT_ONCE):
        try:
            words[low : low + AT_ONCE] = convert(data.where, data.part(slice(low, low + AT_ONCE)))
        except BadInput:
            convert(data.where, data.part(slice(0, low + AT_ONCE)))  # names the right place
            raise
    return words


def check_labels(data: Data, network: Network, fewest: int = HELD_OUT) -> None:
    """Check labels and the number of images against the network.

    Raises:
        BadInput: they do not fit the network, or there are too few.
    """
    images, labels = data.images, data.labels
    if len(images) < fewest:
        raise BadInput(f"{data.where}: {len(images)}: allowed are {fewest} or more")
    classes = network.layers[-1].outputs
    wrong = np.flatnonzero((labels < 0) | (labels >= classes))
    if wrong.size:
        raise BadInput(
            f"{data.source}: {data.keys[1]}[{wrong[0]}] = {labels[wrong[0]]}: {network.name} has "
            f"{classes} outputs: allowed are 0 to {classes - 1}"
        )


def batch_of(images: int, batch: int, seed: int, step: int) -> NDArray[np.int64]:
    """Return the indices of the images of a step.

    Each epoch has a new order and drops an incomplete batch at its end. The result depends only on
    the seed and the step, so that a resumed run uses the same images.
    """
    epoch, place = divmod(step, images // batch)
    order = np.random.default_rng([seed, epoch]).permutation(images)
    return order[place * batch : (place + 1) * batch]
