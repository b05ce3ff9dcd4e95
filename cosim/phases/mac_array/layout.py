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
from merp.models.golden.loss import Labels
from merp.models.mac_array.fixed_update import Pair
from merp.models.mac_array.orders import Atom, Beat
from merp.models.params.bits import Bits
from merp.models.params.mac_array.array_pass import ArrayPass
from merp.models.params.mac_array.design import Array, Design
from merp.testbenches.mac_array.supply_bench import atom_words, beat_words

MASK = 0xFFFF

Order = Callable[[ArrayPass, Array], Iterable[tuple[int, int, int]]]
Places = NDArray[np.int64]


@lru_cache(maxsize=256)
def _places(order: Order, work: ArrayPass, array: Array) -> Places:
    return np.array(list(order(work, array)), np.int64).reshape(-1, 3)


def places(order: Order, work: ArrayPass, design: Design) -> Places:
    """The atoms or beats of an order: (how many, 3)."""
    alike = replace(work, seed=0, rate=0)  # they change from step to step, the order does not
    return _places(order, alike, design.unrolled)


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
    maps: Words, order: Order, work: ArrayPass, design: Design, noise: np.random.Generator
) -> Sent:
    """Maps of one image, (1, rows, columns, maps), as atoms; noise behind a row's last column."""
    each = maps[0].transpose(2, 0, 1).astype(np.int64)
    found: list[Atom] = [tuple(place) for place in places(order, work, design).tolist()]
    words = atom_words(each, found, design, noise)
    columns = np.arange(design.pox)
    blocks = places(order, work, design)[:, 2:]
    return Sent(_bits(words), (blocks * design.pox + columns < each.shape[2]).reshape(-1))


def targets(labels: Labels) -> Sent:
    """Numbers of the right classes."""
    return Sent(labels.astype(np.uint32), np.ones(labels.shape, np.bool_))


def maps_of(
    words: Bits, order: Order, work: ArrayPass, design: Design, size: tuple[int, int, int]
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
    pair: Pair, order: Order, work: ArrayPass, design: Design, noise: np.random.Generator
) -> Sent:
    """Kernels (m, n, k, k) and biases (m,) as beats; noise in lanes without an output map."""
    found: list[Beat] = [tuple(place) for place in places(order, work, design).tolist()]
    kernels = pair.kernels.reshape(*pair.kernels.shape[:2], -1).astype(np.int64)
    words = beat_words(found, design, kernels, pair.biases.astype(np.int64), noise)
    own = beat_words(found, design, np.ones_like(kernels), np.ones(len(kernels), np.int64), None)
    return Sent(_bits(words), own.reshape(-1) == 1)


def pair_of(words: Bits, order: Order, work: ArrayPass, design: Design) -> Pair:
    """Kernels (m, n, k, k) and biases (m,) that words of beats are; as ``maps_of``."""
    size = work.outputs, work.inputs, work.taps
    numbers = np.arange(1, 1 + size[0] * size[1] * size[2]).reshape(size)
    biases = np.arange(numbers.size + 1, numbers.size + 1 + work.outputs)
    found: list[Beat] = [tuple(place) for place in places(order, work, design).tolist()]
    which = beat_words(found, design, numbers, biases, None).reshape(-1)  # 0: of no lane
    every = np.zeros(1 + numbers.size + work.outputs, np.int16)
    fits = min(len(which), len(words))
    every[which[:fits]] = _numbers(words[:fits])
    k = work.kernel
    return Pair(
        every[1 : 1 + numbers.size].reshape(*size[:2], k, k), every[1 + numbers.size :].copy()
    )
