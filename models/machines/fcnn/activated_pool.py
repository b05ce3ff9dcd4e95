"""Golden models of activation and pooling of F-CNN, in both directions.

The bits are those of the layers of merp: ``golden.pooling``, ``golden.state`` and
``golden.unpool``. With tanh, the maximum is the argument, and a delta is multiplied by 1 - y^2
before it goes to the position of its maximum. Arrays are (images, rows, columns, maps) words.
"""

from __future__ import annotations

import numpy as np

from merp.models.arithmetic.relu import relu
from merp.models.arithmetic.tanh import tanh, through_tanh
from merp.models.base.bits import Bits
from merp.models.base.shape import Pool, Shape
from merp.models.golden.pooling import largest
from merp.models.golden.state import State, relu_mask
from merp.models.golden.unpool import unpool
from merp.models.machines.fcnn.params.pool_design import PoolDesign


def pool_of(design: PoolDesign) -> Pool | None:
    """Return the pooling of a module, or None for an activation alone."""
    if not design.pools:
        return None
    return Pool(kind=design.kind, window=design.window, stride=design.stride)


def activated_pool(x: Bits, design: PoolDesign) -> tuple[Bits, Bits]:
    """Return pooled maps behind the activation, and their state bytes.

    A state byte has the mask of ReLU in bit 0, which is 1 without ReLU. The position of the maximum
    is above it.
    """
    pool, fmt = pool_of(design), design.fmt
    maxima, position = x, np.zeros(x.shape, np.uint32)
    if pool:
        maxima, position = largest(x, pool, fmt)
    mask = np.ones(maxima.shape, np.uint32)
    y = maxima
    if design.activation == "relu":
        y, mask = relu(maxima, fmt), relu_mask(maxima, fmt).astype(np.uint32)
    elif design.activation == "tanh":
        y = tanh(maxima, fmt)
    return y, position << np.uint32(1) | mask


def activated_unpool(
    delta: Bits, state: Bits, y: Bits, rows: int, columns: int, design: PoolDesign
) -> Bits:
    """Return the deltas before pooling, of ``rows`` x ``columns`` elements.

    Args:
        delta: of the pooled maps.
        state: their bytes; read with pooling or ReLU.
        y: the pooled maps; read with tanh.
        rows, columns: size of the maps before pooling.
        design: of the module.

    Raises:
        ValueError: the deltas do not have the size of the pooled maps.
    """
    pool, rectified = pool_of(design), design.activation == "relu"
    shape = Shape(n=1, m=1, k=1, rows=rows, columns=columns, relu=rectified, pool=pool)
    if design.activation == "tanh":
        delta = through_tanh(delta, y, design.fmt)
    kept = State(
        kind="pooled",
        mask=(state & 1).astype(np.bool_) if rectified else None,
        position=state >> np.uint32(1) if pool else None,
    )
    return unpool(delta, kept, shape, design.fmt)
