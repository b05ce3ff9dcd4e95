"""Maps and parameters as words on the array's ports, in the order of a pass, and back.

A host moves atoms and beats: what neighbouring passes leave and take differs in order alone.
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
    """The atoms or beats of an order: (how many, 3)."""
    return _places(order, _ordered(work), design.unrolled)


def _ordered(work: ArrayPass) -> ArrayPass:
    """All of a pass that an order depends on; the rest changes from step to step."""
    return replace(work, seed=0, rate=0)


@lru_cache(maxsize=256)
def _elements(order: Order, work: ArrayPass, array: Array) -> Places:
    size = work.outputs, work.inputs, work.taps
    kernels = np.arange(1, 1 + size[0] * size[1] * size[2]).reshape(size)
    biases = np.arange(kernels.size + 1, kernels.size + 1 + work.outputs)
    found: list[Beat] = [tuple(place) for place in _places(order, work, array).tolist()]
    return beat_words(found, array, kernels, biases, None).reshape(-1)


def elements(order: Order, work: ArrayPass, design: ArrayDesign) -> Places:
    """Which element each word of the beats of an order is: (how many,).

    Counted from 1, kernels (m, n, k, k) before biases; 0: of a lane without an output map.
    """
    return _elements(order, _ordered(work), design.unrolled)


@dataclass(frozen=True, eq=False)
class Sent:
    """Words of a port, and which of them mean something."""

    words: Bits
    meant: NDArray[np.bool_]

    def then(self, other: Sent) -> Sent:
        """With others behind."""
        words, meant = (self.words, other.words), (self.meant, other.meant)
        return Sent(np.concatenate(words), np.concatenate(meant))


def _bits(words: NDArray[np.int64]) -> Bits:
    return (words.reshape(-1) & MASK).astype(np.uint32)


def _numbers(words: Bits) -> Words:
    return np.asarray(words).astype(np.uint16).view(np.int16)


def atoms(
    maps: Words, order: Order, work: ArrayPass, design: ArrayDesign, noise: np.random.Generator
) -> Sent:
    """Maps of one image, (1, rows, columns, maps), as atoms; noise behind a row's last column."""
    each = maps[0].transpose(2, 0, 1).astype(np.int64)
    at = places(order, work, design)
    columns = at[:, 2:] * design.pox + np.arange(design.pox)
    return Sent(_bits(atom_words(each, at, design, noise)), (columns < each.shape[2]).reshape(-1))


def targets(labels: Labels) -> Sent:
    """Numbers of the right classes."""
    return Sent(labels.astype(np.uint32), np.ones(labels.shape, np.bool_))


def maps_of(
    words: Bits, order: Order, work: ArrayPass, design: ArrayDesign, size: tuple[int, int, int]
) -> Words:
    """The maps that words of atoms are, (1, rows, columns, maps); 0 where none came.

    Missing words are 0, those too many are dropped: the audit tells.
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
    """Kernels (m, n, k, k) and biases (m,) as beats; noise in lanes without an output map."""
    which = elements(order, work, design)
    every = np.concatenate(([0], pair.kernels.reshape(-1), pair.biases))
    own = which > 0
    return Sent(_bits(np.where(own, every[which], noise.integers(-32768, 32768, which.size))), own)


def pair_of(words: Bits, order: Order, work: ArrayPass, design: ArrayDesign) -> Pair:
    """Kernels (m, n, k, k) and biases (m,) that words of beats are; as ``maps_of``."""
    size = work.outputs, work.inputs, work.kernel, work.kernel
    kernels = work.outputs * work.inputs * work.taps
    which = elements(order, work, design)
    every = np.zeros(1 + kernels + work.outputs, np.int16)
    fits = min(len(which), len(words))
    every[which[:fits]] = _numbers(words[:fits])
    return Pair(every[1 : 1 + kernels].reshape(size), every[1 + kernels :].copy())
