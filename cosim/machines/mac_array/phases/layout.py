"""Convert between maps or parameters and words on the array's ports, in the order of a pass.

A host only reorders atoms and beats: the outputs and inputs of consecutive passes differ only in
order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.fixed import Words
from merp.models.base.bits import Bits
from merp.models.golden.loss import Labels
from merp.models.machines.mac_array.fixed_update import Pair
from merp.models.machines.mac_array.orders import Beat
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import Array, ArrayDesign
from merp.testbenches.mac_array.supply_bench import atom_words, beat_words

MASK = 0xFFFF

Order = Callable[[ArrayPass, Array], Iterable[tuple[int, int, int]]]
Places = NDArray[np.int64]


@lru_cache(maxsize=256)
def _places(order: Order, work: ArrayPass, array: Array) -> Places:
    return np.array(list(order(work, array)), np.int64).reshape(-1, 3)


def places(order: Order, work: ArrayPass, design: ArrayDesign) -> Places:
    """Return the places of the atoms or beats of an order, with the size (number, 3)."""
    return _places(order, _ordered(work), design.unrolled)


def _ordered(work: ArrayPass) -> ArrayPass:
    """Return a pass with only the properties that an order depends on.

    The others change per step.
    """
    return replace(work, seed=0, rate=0)


@lru_cache(maxsize=256)
def _elements(order: Order, work: ArrayPass, array: Array) -> Places:
    size = work.outputs, work.inputs, work.taps
    kernels = np.arange(1, 1 + size[0] * size[1] * size[2]).reshape(size)
    biases = np.arange(kernels.size + 1, kernels.size + 1 + work.outputs)
    found: list[Beat] = [tuple(place) for place in _places(order, work, array).tolist()]
    return beat_words(found, array, kernels, biases, None).reshape(-1)


def elements(order: Order, work: ArrayPass, design: ArrayDesign) -> Places:
    """Return the element number of each word in the beats of an order, with the size (number,).

    Elements are counted from 1, kernels (m, n, k, k) before biases. 0 marks a lane without an
    output map.
    """
    return _elements(order, _ordered(work), design.unrolled)


@dataclass(frozen=True, eq=False)
class Sent:
    """Words of a port, and a flag for each meaningful word."""

    words: Bits
    meant: NDArray[np.bool_]

    def then(self, other: Sent) -> Sent:
        """Append other words."""
        words, meant = (self.words, other.words), (self.meant, other.meant)
        return Sent(np.concatenate(words), np.concatenate(meant))


def _bits(words: NDArray[np.int64]) -> Bits:
    return (words.reshape(-1) & MASK).astype(np.uint32)


def _numbers(words: Bits) -> Words:
    return np.asarray(words).astype(np.uint16).view(np.int16)


def atoms(
    maps: Words, order: Order, work: ArrayPass, design: ArrayDesign, noise: np.random.Generator
) -> Sent:
    """Return maps of one image, (1, rows, columns, maps), as atoms.

    Random words follow the last column of a row.
    """
    each = maps[0].transpose(2, 0, 1).astype(np.int64)
    at = places(order, work, design)
    columns = at[:, 2:] * design.pox + np.arange(design.pox)
    return Sent(_bits(atom_words(each, at, design, noise)), (columns < each.shape[2]).reshape(-1))


def targets(labels: Labels) -> Sent:
    """Return the numbers of the correct classes."""
    return Sent(labels.astype(np.uint32), np.ones(labels.shape, np.bool_))


def maps_of(
    words: Bits, order: Order, work: ArrayPass, design: ArrayDesign, size: tuple[int, int, int]
) -> Words:
    """Return the maps from words of atoms, (1, rows, columns, maps).

    Missing words are 0 and surplus words are dropped; the audit reports both.
    """
    rows, columns, maps = size
    at = places(order, work, design)
    each = np.zeros((len(at), design.pox), np.int16)
    fits = min(each.size, len(words))
    each.reshape(-1)[:fits] = _numbers(words[:fits])
    whole = np.zeros((maps, rows, design.column_blocks(columns), design.pox), np.int16)
    whole[at[:, 0], at[:, 1], at[:, 2]] = each
    found = whole.reshape(maps, rows, -1)[:, :, :columns]
    return np.ascontiguousarray(found.transpose(1, 2, 0))[np.newaxis]


def beats(
    pair: Pair, order: Order, work: ArrayPass, design: ArrayDesign, noise: np.random.Generator
) -> Sent:
    """Return kernels (m, n, k, k) and biases (m,) as beats.

    Lanes without an output map have random words.
    """
    which = elements(order, work, design)
    every = np.concatenate(([0], pair.kernels.reshape(-1), pair.biases))
    own = which > 0
    return Sent(_bits(np.where(own, every[which], noise.integers(-32768, 32768, which.size))), own)


def pair_of(words: Bits, order: Order, work: ArrayPass, design: ArrayDesign) -> Pair:
    """Return kernels (m, n, k, k) and biases (m,) from words of beats.

    Missing words are 0 and surplus words are dropped, as in ``maps_of``.
    """
    size = work.outputs, work.inputs, work.kernel, work.kernel
    kernels = work.outputs * work.inputs * work.taps
    which = elements(order, work, design)
    every = np.zeros(1 + kernels + work.outputs, np.int16)
    fits = min(len(which), len(words))
    every[which[:fits]] = _numbers(words[:fits])
    return Pair(every[1 : 1 + kernels].reshape(size), every[1 + kernels :].copy())
