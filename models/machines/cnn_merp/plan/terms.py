"""The numbers that the passes of a work follow from: of one work, or of tiles of many at once.

A layer and phase come to a few numbers, and to a structure: which streams there are. Tiles of works
of one structure are priced together, with an array for each number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.word_counters import word_bytes

Figure = Any
"""A whole number, or an array of them with an element for each tile."""


class Structure(NamedTuple):
    """Which streams a work has.

    Attributes:
        phase, images, pooled, folded, begun: as of ``PhaseWork``.
        beside: its sums start at a delta that is expanded.
        beside_pools: which the layer beside has pooled. expands: pooling is undone.
        writes_state: forward propagation does.
        behind_by_map, beside_by_map: outputs are the maps of the layer in front, or beside, and not
            elements of these.
        pools: sums are pooled from memory. undoes: the phase undoes ReLU and pooling.
        starts: the phase undoes them on the deltas that sums start at.
    """

    phase: str
    images: int
    pooled: bool
    folded: bool
    begun: bool
    beside: bool
    beside_pools: bool
    expands: bool
    writes_state: bool
    behind_by_map: bool
    beside_by_map: bool
    pools: bool
    undoes: bool
    starts: bool


class Figures(NamedTuple):
    """The numbers of a work, of one group.

    Attributes:
        groups, inputs, outputs, elements_in, positions, sweep: as of ``PhaseWork``.
        pixels, sums, pooled_sums: places of a map in front, behind, and behind pooling.
        stored: of a map of deltas as it is stored. dilated: of one that is convolved.
        kernel, taps, reach: elements of a kernel, and taps of the engine for them.
        leaving: deltas of an image. state: bits of a map's state that is written or expands.
        behind_bits, behind_maps: of state, and maps, of the layer whose ReLU is undone behind.
        beside_bits, beside_maps, beside_words: of the layer beside; its words of an image.
        columns: of a map as the engine has it. pooled_columns: behind pooling.
        undone_columns, undone_maps: pooled ones whose pooling is undone, none without pooling; and
            maps. start_columns: of those that sums start at.
    """

    groups: Figure
    inputs: Figure
    outputs: Figure
    elements_in: Figure
    positions: Figure
    sweep: Figure
    pixels: Figure
    sums: Figure
    pooled_sums: Figure
    stored: Figure
    dilated: Figure
    kernel: Figure
    taps: Figure
    reach: Figure
    leaving: Figure
    state: Figure
    behind_bits: Figure
    behind_maps: Figure
    beside_bits: Figure
    beside_maps: Figure
    beside_words: Figure
    columns: Figure
    pooled_columns: Figure
    undone_columns: Figure
    undone_maps: Figure
    start_columns: Figure


class Terms(NamedTuple):
    """The cost and the memory of passes follow from these terms and from the maps of a pass."""

    engine: EngineDesign
    has: Structure
    of: Figures

    def some(self, places: NDArray[np.int64]) -> Terms:
        """The terms of the tiles at some places."""
        return self._replace(of=Figures(*(each[places] for each in self.of)))

    def word_bytes(self, port: str) -> int:
        """Bytes of a word of a port: an element as it is stored, a partial sum, one of state."""
        return word_bytes(self.has.phase, port, self.engine)


def spread(terms: Sequence[Terms], tiles: Sequence[int]) -> Terms:
    """The terms of works of one structure with an element for each tile.

    tiles: how many tiles each work has.
    """
    numbers: NDArray[np.int64] = np.array([each.of for each in terms], np.int64)
    return terms[0]._replace(of=Figures(*np.repeat(numbers.T, tiles, axis=1)))
