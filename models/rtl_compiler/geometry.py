"""A layer as the array sees it: a convolution of one group, fully connected ones too."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.network.branches import previous
from merp.models.network.network import Layer, Network
from merp.models.network.phases import has_phase

MAX_KERNEL = 11
"""Rows of the largest map that a fully connected layer takes as one kernel's window."""


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


def geometry(network: Network, layer: Layer) -> Geometry:
    """Return the geometry of a layer.

    A fully connected layer behind small square maps is a convolution whose kernel is as large.
    """
    shape = layer.shape
    n, k, rows, columns = shape.n, shape.k, shape.rows, shape.columns
    front = previous(network, layer)
    if layer.kind == "fc" and front is not None and front.kind == "conv":
        side = front.shape.pooled_rows
        if side == front.shape.pooled_columns <= MAX_KERNEL:
            n, k, rows, columns = n // side**2, side, side, side
    return Geometry(
        groups=layer.groups,
        n=n,
        m=shape.m,
        k=k,
        stride=shape.stride,
        rows=rows,
        columns=columns,
        out_rows=shape.out_rows,
        out_columns=shape.out_columns,
        pooled_rows=shape.pooled_rows,
        pooled_columns=shape.pooled_columns,
        pooled=shape.pool is not None,
        propagates=has_phase(network, layer, "dp"),
    )
