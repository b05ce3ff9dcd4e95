"""Deltas as they are stored at pooled resolution, each with the mask that expands it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.base.bits import Bits
from merp.models.base.delta_shape import plain_inputs
from merp.models.base.shape import Shape
from merp.models.golden.state import State, chosen
from merp.models.network.branches import beside, stored_as, undone_shape
from merp.models.network.network import Layer, Network


class Stored(NamedTuple):
    """A delta of all maps of a layer.

    Attributes:
        shape: its ReLU and pooling are undone to expand the delta.
        delta: (images, pooled_rows, pooled_columns, maps) words.
        state: ReLU/pooling mask of kind ``pooled``.
    """

    shape: Shape
    delta: Bits
    state: State

    def of_maps(self, maps: slice | NDArray[np.int64]) -> Stored:
        """Return some of the maps."""
        delta = np.ascontiguousarray(self.delta[..., maps])
        return Stored(self.shape, delta, chosen(self.state, maps))

    def of_group(self, layer: Layer, group: int) -> Stored:
        """Return the maps that a group of ``layer`` reads, or to which it has propagated a
        delta.
        """
        n = layer.shape.n
        return self.of_maps(slice(group * n, (group + 1) * n))


def stored(
    network: Network,
    layer: Layer,
    delta: Callable[[Layer], Bits],
    state: Callable[[Layer], State],
) -> Stored:
    """Return the output's delta of ``layer``; ``delta`` and ``state`` return the data of any
    layer.
    """
    source = stored_as(network, layer)
    return Stored(undone_shape(network, layer), delta(source), state(source))


def started(
    network: Network,
    layer: Layer,
    delta: Callable[[Layer], Bits],
    state: Callable[[Layer], State],
    propagated: Bits | None,
) -> Stored | None:
    """Return the start of the delta propagation of ``layer``; None for +0.

    propagated: (images, rows, columns, groups*n) words, the unexpanded delta of its input that
    other layers have propagated; None if there is none. If the first delta of the input is that of
    the sums of a layer that adds it, that delta is expanded instead.
    """
    start = beside(network, layer)
    if start is not None:
        return Stored(start.shape, delta(start), state(start))
    return None if propagated is None else as_it_is(layer, propagated)


def as_it_is(layer: Layer, propagated: Bits) -> Stored:
    """Return a delta of the input of ``layer`` without expansion: (images, rows, columns,
    groups*n).
    """
    return Stored(plain_inputs(layer.shape), propagated, State(kind="pooled"))
