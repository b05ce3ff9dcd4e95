"""The loss and the delta of the network's output: the host computes them in binary64.

Deltas are those of the sum over the batch. The learning rate contains the 1/batch of the mean
(``training.rates_of``). The reported loss is the mean.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.compiled import Values
from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat

Labels = NDArray[np.int64]


def softmax(scores: Values) -> Values:
    """Return the probabilities of (images, classes) scores."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _cross_entropy(scores: Values, wanted: Values) -> tuple[Values, Values]:
    """Return the softmax cross-entropy, -log p of the label, and its derivative, p - wanted."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    loss = np.log(np.exp(shifted).sum(axis=1)) - (shifted * wanted).sum(axis=1)
    return loss, softmax(scores) - wanted


def _squared(scores: Values, wanted: Values) -> tuple[Values, Values]:
    """Return half the squared distance to 1 for the label, to 0 elsewhere, and the derivative."""
    error = scores - wanted
    return 0.5 * (error * error).sum(axis=1), error


def _squared_hinge(scores: Values, wanted: Values) -> tuple[Values, Values]:
    """Return the squares of each score's distance below 1 for the label, above -1 elsewhere."""
    sign = 2.0 * wanted - 1.0
    lacking = np.maximum(0.0, 1.0 - sign * scores)
    return (lacking * lacking).sum(axis=1), -2.0 * sign * lacking


_KINDS: dict[str, Callable[[Values, Values], tuple[Values, Values]]] = {
    "cross-entropy": _cross_entropy,
    "squared": _squared,
    "hinge": _squared_hinge,
}
LOSSES = tuple(_KINDS)


def losses_of(kind: str, scores: Values, labels: Labels) -> tuple[Values, Values]:
    """Return losses (images,) of (images, classes) scores, and their derivatives by the scores.

    Raises:
        ValueError: there is no such kind.
    """
    if kind not in _KINDS:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}, not {kind!r}")
    wanted = np.zeros(scores.shape)
    wanted[np.arange(len(labels)), labels] = 1.0
    with np.errstate(invalid="ignore", over="ignore"):
        return _KINDS[kind](scores, wanted)


def classes_of(scores: Values) -> Labels:
    """Return the index of the largest score of each image, the first of equals: (images,)."""
    found: Labels = scores.reshape(len(scores), -1).argmax(axis=1).astype(np.int64)
    return found


def right_of(scores: Values, labels: Labels) -> int:
    """Return the number of images whose largest score is that of their label."""
    return int((classes_of(scores) == labels).sum())


def loss(kind: str, output: Bits, labels: Labels, fmt: FloatFormat) -> tuple[float, Bits]:
    """Return the mean loss of a batch and the delta of the network's output.

    Args:
        kind: ``cross-entropy`` (of the softmax), ``squared`` or ``hinge`` (squared).
        output: words of the last layer, images first; an image's elements are its scores.
        labels: (images,) classes, numbered like the scores.
        fmt: number format of ``output`` and of the delta.

    Returns:
        The loss (NaN or infinite when the scores are), and words of the shape of ``output``.

    Raises:
        ValueError: there is no such kind.
    """
    scores = to_values(output, fmt).reshape(len(output), -1)
    losses, derivative = losses_of(kind, scores, labels)
    return float(losses.mean()), to_bits(derivative, fmt).reshape(output.shape)
