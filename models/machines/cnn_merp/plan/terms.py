"""The numbers that determine the passes of a work: of one work, or of arrays of tiles.

A layer and phase are described by a few numbers, and by a structure: the streams that exist. Tiles
of works of one structure are priced together, with an array for each number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.word_counters import word_bytes

Figure = Any
"""A whole number, or an array with an element for each tile."""


class Structure(NamedTuple):
    """The streams of a work.

    Attributes:
        phase, images, pooled, folded, begun: as in ``PhaseWork``.
        beside: whether its sums start at a delta that is expanded.
        beside_pools: whether the layer beside has pooled that delta.
        expands: whether pooling is undone.
        writes_state: whether forward propagation writes the mask.
        behind_by_map, beside_by_map: whether outputs are the maps of the layer in front, or beside,
            instead of their elements.
        pools: whether sums are pooled from memory.
        undoes: whether the phase undoes ReLU and pooling.
        starts: whether the phase undoes them on the deltas at which sums start.
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
        groups, inputs, outputs, elements_in, positions, sweep: as in ``PhaseWork``.
        pixels, sums, pooled_sums: places of an input map, of a map of sums, and of a pooled map.
        stored: places of a map of deltas as it is stored.
        dilated: places of a map that is convolved.
        kernel, taps, reach: elements of a kernel, and taps of the engine for them.
        leaving: deltas of an image.
        state: bits of a map's mask that is written or expands.
        behind_bits, behind_maps: bits of the mask, and maps, of the layer whose ReLU is undone at
            the output.
        beside_bits, beside_maps, beside_words: the same of the layer beside, and its words of an
            image.
        columns: of a map on the engine.
        pooled_columns: after pooling.
        undone_columns, undone_maps: pooled columns whose pooling is undone (none without pooling),
            and maps.
        start_columns: the same columns of the deltas at which sums start.
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
    """Terms that, with the maps of a pass, determine cost and memory of passes."""

    engine: EngineDesign
    has: Structure
    of: Figures

    def some(self, places: NDArray[np.int64]) -> Terms:
        """Return the terms of the tiles at some places."""
        return self._replace(of=Figures(*(each[places] for each in self.of)))

    def word_bytes(self, port: str) -> int:
        """Return the bytes of a word of a port: a stored element, a partial sum, or a byte of the
        mask.
        """
        return word_bytes(self.has.phase, port, self.engine)


def spread(terms: Sequence[Terms], tiles: Sequence[int]) -> Terms:
    """Return the terms of works of one structure with an element for each tile.

    tiles: number of tiles of each work.
    """
    numbers: NDArray[np.int64] = np.array([each.of for each in terms], np.int64)
    return terms[0]._replace(of=Figures(*np.repeat(numbers.T, tiles, axis=1)))
