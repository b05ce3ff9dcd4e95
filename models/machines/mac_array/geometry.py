"""Layers in the array's form: convolutions, also for fully connected layers."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.machines.mac_array.params.design import MAX_WINDOW
from merp.models.machines.mac_array.params.window import Size, as_window
from merp.models.network.branches import previous
from merp.models.network.network import Layer, Network
from merp.models.network.phase import DELTAS, UPDATE
from merp.models.network.phases import has_phase


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """The sizes of one group of a layer, as the array runs it.

    Attributes:
        groups: number of groups of the layer.
        n, m: numbers of input and output maps of a group.
        k, stride: size and stride of the kernel.
        rows, columns: size of an input map.
        out_rows, out_columns: size of a map of sums, which is an output map before pooling.
        pooled_rows, pooled_columns: size of an output map after pooling.
        pooled: whether the layer pools.
        propagates: whether the layer has delta propagation.
        updates: whether the layer has kernel update.
    """

    groups: int
    n: int
    m: int
    k: int
    stride: int
    rows: int
    columns: int
    out_rows: int
    out_columns: int
    pooled_rows: int
    pooled_columns: int
    pooled: bool
    propagates: bool
    updates: bool

    @property
    def kernels(self) -> int:
        """Number of kernel elements in all groups."""
        return self.groups * self.n * self.m * self.k**2


def taken(network: Network, layer: Layer) -> Size:
    """Return the rows, columns and channels of a layer's input."""
    front = previous(network, layer)
    if front is None:
        return network.input
    return front.shape.pooled_rows, front.shape.pooled_columns, front.biases


def geometry(network: Network, layer: Layer, largest: int = MAX_WINDOW) -> Geometry:
    """Return the geometry of a layer.

    A fully connected layer whose input maps are square, with at most ``largest`` rows, becomes a
    convolution. Its kernel is as large as an input map.
    """
    shape = as_window(layer.shape, taken(network, layer), largest)
    return Geometry(
        groups=layer.groups,
        n=shape.n,
        m=shape.m,
        k=shape.k,
        stride=shape.stride,
        rows=shape.rows,
        columns=shape.columns,
        out_rows=shape.out_rows,
        out_columns=shape.out_columns,
        pooled_rows=shape.pooled_rows,
        pooled_columns=shape.pooled_columns,
        pooled=shape.pool is not None,
        propagates=has_phase(network, layer, "dp"),
        updates=layer.trainable,
    )


def expanding_phase(updates: bool) -> str:
    """Return the backward phase that un-pooling precedes, if it is a pass over DRAM.

    It is KU, which runs before DP. A layer that does not update has it in front of DP.
    """
    return UPDATE if updates else DELTAS
