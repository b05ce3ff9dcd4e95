"""A layer as the array sees it: a convolution of one group, fully connected ones too."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.machines.mac_array.params.design import MAX_WINDOW
from merp.models.machines.mac_array.params.window import Size, as_window
from merp.models.network.branches import previous
from merp.models.network.network import Layer, Network
from merp.models.network.phases import has_phase


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """One group, of so many.

    Attributes:
        n, m: input and output maps. k, stride: of the kernel. rows, columns: of an input map.
        out_rows, out_columns: of the sums. pooled_rows, pooled_columns: after pooling.
        pooled: whether it is. propagates: whether it has a delta to propagate.
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

    @property
    def kernels(self) -> int:
        """Kernel elements of all groups."""
        return self.groups * self.n * self.m * self.k**2


def taken(network: Network, layer: Layer) -> Size:
    """Rows, columns and channels of what a layer takes."""
    front = previous(network, layer)
    if front is None:
        return network.input
    return front.shape.pooled_rows, front.shape.pooled_columns, front.biases


def geometry(network: Network, layer: Layer, largest: int = MAX_WINDOW) -> Geometry:
    """Return the geometry of a layer.

    A fully connected layer behind square maps of at most ``largest`` rows is a convolution whose
    kernel is as large.
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
    )
