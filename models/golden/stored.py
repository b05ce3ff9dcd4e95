"""Deltas as they lie in memory at pooled resolution, each with what expands it."""

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
        shape: whose ReLU and pooling are undone to expand it.
        delta: (images, pooled_rows, pooled_columns, maps) words. state: of kind ``pooled``.
    """

    shape: Shape
    delta: Bits
    state: State

    def of_maps(self, maps: slice | NDArray[np.int64]) -> Stored:
        """Some of the maps."""
        delta = np.ascontiguousarray(self.delta[..., maps])
        return Stored(self.shape, delta, chosen(self.state, maps))

    def of_group(self, layer: Layer, group: int) -> Stored:
        """The maps that a group of ``layer`` takes, or has propagated a delta to."""
        n = layer.shape.n
        return self.of_maps(slice(group * n, (group + 1) * n))


def stored(
    network: Network,
    layer: Layer,
    delta: Callable[[Layer], Bits],
    state: Callable[[Layer], State],
) -> Stored:
    """The delta of the output of ``layer``; ``delta`` and ``state`` give those of any layer's."""
    source = stored_as(network, layer)
    return Stored(undone_shape(network, layer), delta(source), state(source))


def started(
    network: Network,
    layer: Layer,
    delta: Callable[[Layer], Bits],
    state: Callable[[Layer], State],
    propagated: Bits | None,
) -> Stored | None:
    """What the delta propagation of ``layer`` starts at; None for +0.

    propagated: (images, rows, columns, groups*n) words, what other layers have left of the delta of
    its input, as it is; None if nothing. Where the sums of a layer that adds the input come first,
    their delta is expanded in its place.
    """
    start = beside(network, layer)
    if start is not None:
        return Stored(start.shape, delta(start), state(start))
    return None if propagated is None else as_it_is(layer, propagated)


def as_it_is(layer: Layer, propagated: Bits) -> Stored:
    """A delta of the input of ``layer`` that nothing expands: (images, rows, columns, groups*n)."""
    return Stored(plain_inputs(layer.shape), propagated, State(kind="pooled"))
