"""Labelled images for training: a user's ``.npz``, checks against the network, the split."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.compiled import Values
from merp.models.base.errors import BadInput
from merp.models.golden.loss import Labels
from merp.models.network.network import Network
from merp.tools.common.given_numbers import given_numbers, whole_numbers
from merp.tools.common.npz import read_npz
from merp.tools.train.arithmetic import Words, arithmetic_of

KEYS = ("images", "labels")
HELD_OUT = 5  # one of five images is never used for training


class Data(NamedTuple):
    """Labelled images.

    Attributes:
        source: their name in messages.
        images: (count, rows, columns, channels) numbers.
        labels: (count,) classes from 0.
    """

    source: str
    images: Values
    labels: Labels


class Split(NamedTuple):
    """Images as words, and labels, for training and held out."""

    images: Words
    labels: Labels
    held_images: Words
    held_labels: Labels


def read_data(path: Path) -> Data:
    """Read ``images``, (count, rows, columns[, channels]) numbers, and ``labels``, (count,).

    Raises:
        BadInput: the file is unreadable, has another key, or arrays of another type or size.
    """
    arrays = read_npz(path)
    if set(arrays) != set(KEYS):
        found = ", ".join(sorted(arrays)) or "none"
        raise BadInput(f"{path}: keys {found}: allowed are {' and '.join(KEYS)}")
    return checked(str(path), arrays["images"], arrays["labels"])


def checked(source: str, images: NDArray[np.generic], labels: NDArray[np.generic]) -> Data:
    """Check the images and labels of ``source``, and return them as data.

    Raises:
        BadInput: they have another type or size.
    """
    numbers = given_numbers(f"{source}: images", images)
    classes = whole_numbers(f"{source}: labels", labels)
    if images.ndim not in (3, 4):
        raise BadInput(
            f"{source}: images: size {images.shape}: allowed is (count, rows, columns[, channels])"
        )
    if labels.shape != images.shape[:1]:
        raise BadInput(
            f"{source}: labels: size {labels.shape}: allowed is {images.shape[:1]}, one per image"
        )
    return Data(
        source,
        numbers[..., np.newaxis] if numbers.ndim == 3 else numbers,
        classes,
    )


def split(data: Data, network: Network, validation: Data | None = None) -> Split:
    """Check the data against the network and hold out a fifth, which does not depend on the seed.

    The order is shuffled first, because data sets are often sorted or cyclic. If ``validation`` is
    given, its images are held out, and all of ``data`` is used for training.

    Raises:
        BadInput: sizes or labels do not fit the network, there are too few images, or its format
            does not hold a number.
    """
    words = _words(data, network, 1 if validation else HELD_OUT)
    if validation is not None:
        held_out = _words(validation, network, 1)
        return Split(words, data.labels, held_out, validation.labels)
    held, kept = held_apart(len(words))
    return Split(words[kept], data.labels[kept], words[held], data.labels[held])


def held_apart(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the held-out images among ``count`` images, and of the others."""
    held, kept = np.split(np.random.default_rng(0).permutation(count), [count // HELD_OUT])
    return held, kept


def _words(data: Data, network: Network, fewest: int) -> Words:
    """Return the images as words, all checked against the network."""
    checked_sizes(data, network, fewest)
    return arithmetic_of(network).image_words(f"{data.source}: images", data.images)


def checked_sizes(data: Data, network: Network, fewest: int = HELD_OUT) -> None:
    """Check sizes, labels and the number of images against the network.

    Raises:
        BadInput: they do not fit the network, or there are too few.
    """
    images, labels, source = data.images, data.labels, data.source
    if images.shape[1:] != network.input:
        raise BadInput(
            f"{source}: images: size {images.shape[1:]}: {network.name} takes {network.input}"
        )
    if len(images) < fewest:
        raise BadInput(f"{source}: images: {len(images)}: allowed are {fewest} or more")
    classes = network.layers[-1].outputs
    wrong = np.flatnonzero((labels < 0) | (labels >= classes))
    if wrong.size:
        raise BadInput(
            f"{source}: labels[{wrong[0]}] = {labels[wrong[0]]}: {network.name} has "
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
