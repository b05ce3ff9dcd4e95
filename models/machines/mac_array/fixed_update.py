"""Golden kernel update in fixed point: gradients image by image, then velocity and new kernels.

The sum of an image is rounded. Then it is added to the gradient of the previous images, and the
result is saturated. Therefore the bits depend on the order of the images. Kernels and biases follow
the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.fixed import (
    SaturatedWords,
    Sums,
    Words,
    exact,
    floor_shift,
    nearest_even,
    saturated,
    toward_zero,
)
from merp.models.arithmetic.random_bits import random_bits
from merp.models.machines.mac_array.orders import beats_of_update
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import Array
from merp.models.machines.mac_array.products import gradient_sums

RANDOM_BITS = 16
MOMENTUM_BITS = 16


class Pair(NamedTuple):
    """Kernels (m, n, k, k) and biases (m,), or their gradients or velocities."""

    kernels: Words
    biases: Words


class Increments(NamedTuple):
    """Each image's unsaturated addend to the gradients: (images, m, n, k, k) and (images, m)."""

    kernels: Sums
    biases: Sums


class ArrayGradient(NamedTuple):
    """Gradients after some images, and the number of words that were saturated."""

    words: Words
    clipped: int


class ArrayUpdate(NamedTuple):
    """New kernels or biases and velocities, and the number of saturated words of each."""

    kernels: Words
    velocities: Words
    kernels_clipped: int
    velocities_clipped: int


def increments(of: ArrayPass, maps: Words, deltas: Words) -> Increments:
    """Calculate each image's addend to the gradients.

    Args:
        of: the pass of the array, which has the sizes of the layer.
        maps: (images, rows, columns, n).
        deltas: deltas of the sums, (images, out_rows, out_columns, m).

    Raises:
        OverflowError: a sum does not fit 48 bits.
    """
    sums = exact(gradient_sums(of, maps.astype(np.float64), deltas.astype(np.float64)))
    biases = deltas.astype(np.int64).sum(axis=(1, 2))
    return Increments(nearest_even(sums, of.shift), nearest_even(biases, of.bias_shift))


def accumulated(increments: Iterable[Sums], begun: ArrayGradient | None = None) -> ArrayGradient:
    """Add the increments to the gradients in order; saturate after each image.

    The gradients start at ``begun``, or at 0.
    """
    words, clipped = begun or (None, 0)
    for each in increments:
        words, count = saturated(each if words is None else words.astype(np.int64) + each)
        clipped += count
    if words is None:
        raise ValueError("gradients need at least one image")
    return ArrayGradient(words, clipped)


def bits_of_update(of: ArrayPass, array: Array) -> tuple[Sums, Sums]:
    """Return the random bits of each new kernel (m, n, k, k) and bias (m,).

    The bits depend on the beat and the lane in which the array sends the word.
    """
    order, lanes = beats_of_update(of, array), array.pof
    tiles, beats = array.map_tiles(of.outputs), len(order) + 1
    bits = random_bits(of.seed, tiles * beats, lanes).astype(np.int64).reshape(tiles, beats, lanes)
    kernels = np.empty((tiles, lanes, of.inputs, of.taps), np.int64)
    lane = np.arange(lanes)
    inputs, taps = np.array(order).T
    word = (inputs[:, np.newaxis] + lane) % lanes  # of a beat, in circulant order
    kernels[:, :, inputs, taps] = bits[:, np.arange(len(order))[:, np.newaxis], word].swapaxes(1, 2)
    whole = kernels.reshape(-1, of.inputs, of.kernel, of.kernel)
    return whole[: of.outputs], bits[:, -1].reshape(-1)[: of.outputs]


def updated(
    of: ArrayPass,
    words: Words,
    velocities: Words,
    gradients: Words,
    bits: NDArray[np.int64] | None = None,
) -> ArrayUpdate:
    """Update the kernels or the biases of a layer.

    Args:
        of: the pass of the array, which has the sizes of the layer.
        words: old kernels or biases.
        velocities: old velocities; they have no effect without momentum.
        gradients: gradients of the whole batch.
        bits: 16 random bits for each word; None for rounding to nearest.
    """
    kept = toward_zero(of.momentum * velocities.astype(np.int64), MOMENTUM_BITS)
    moved = saturated(kept + nearest_even(gradients.astype(np.int64), of.velocity_shift))
    step = -of.rate * moved.words.astype(np.int64)
    if bits is None:
        rounded = nearest_even(step, of.update_shift)
    else:
        rounded = (floor_shift(step, of.update_shift - RANDOM_BITS) + bits) >> RANDOM_BITS
    new: SaturatedWords = saturated(words.astype(np.int64) + rounded)
    return ArrayUpdate(new.words, moved.words, new.clipped, moved.clipped)
