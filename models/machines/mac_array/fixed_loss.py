"""Deltas of the loss in fixed point, calculated by the array's loss unit or by the host.

Targets are one-hot. The host calculates the reported loss in float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from merp.models.arithmetic.compiled import Values
from merp.models.arithmetic.fixed import (
    SaturatedWords,
    Words,
    nearest_even,
    saturated,
    to_numbers,
    to_words,
)
from merp.models.golden.loss import Labels, losses_of
from merp.models.machines.mac_array.params.array_pass import ArrayPass


class Loss(NamedTuple):
    """Mean loss of a batch, deltas of the output, and the number of saturated deltas."""

    value: float
    deltas: Words
    clipped: int


def unit_deltas(of: ArrayPass, outputs: Words, labels: Labels) -> SaturatedWords:
    """Calculate the deltas of (images, classes) outputs as the loss unit does, for ``of.loss``.

    Squared: y - t with targets 0 and 1. Squared hinge: -2 t max(0, 1 - t y) with targets -1 and 1.
    """
    y, one = outputs.astype(np.int64), 1 << of.one_shift
    hit = np.zeros(y.shape, np.bool_)
    hit[np.arange(len(labels)), labels] = True
    if of.loss == "squared":
        deltas = y - np.where(hit, one, 0)
    else:
        sign = np.where(hit, 1, -1)
        deltas = -2 * sign * np.maximum(0, one - sign * y)
    return saturated(nearest_even(deltas, of.loss_shift))


def fixed_loss(of: ArrayPass, kind: str, outputs: Words, labels: Labels) -> Loss:
    """Calculate the loss and the deltas of (images, ...) outputs.

    The deltas are those of the loss unit if ``of.loss`` is set, otherwise those of the host.

    Args:
        of: the pass of the array, which has the sizes of the layer.
        kind: a loss of ``golden.loss``.
        outputs: outputs of the last layer.
        labels: classes.
    """
    flat = outputs.reshape(len(outputs), -1)
    losses, derivative = losses_of(kind, to_numbers(flat, of.one_shift), labels)
    found = unit_deltas(of, flat, labels) if of.loss else _host(of, derivative)
    return Loss(float(losses.mean()), found.words.reshape(outputs.shape), found.clipped)


def _host(of: ArrayPass, derivative: Values) -> SaturatedWords:
    return to_words(derivative, of.one_shift - of.loss_shift)
