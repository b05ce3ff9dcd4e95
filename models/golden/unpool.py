"""Golden model of un-pooling and ReLU': the delta of a layer's output becomes that of its sums.

CNN-MERP section III.B, for windows that may overlap: the contributions to one element are added in
raster order of the pooled elements, from +0. The mask selects the sum or +0. It is not a factor: if
it is false, neither -0 nor NaN passes.

Leaky ReLU multiplies by its slope where ReLU selects +0, and rounds once. The order matters then:

- with max pooling, the delta of each masked maximum is multiplied before the contributions are
  added. The mask is that of the maximum, so every kind of state gives the same bits;
- otherwise, the sum of the contributions to each masked element is multiplied.

The derivative of tanh is a factor, of the delta of the output (``arithmetic.tanh``).
"""

from __future__ import annotations

import numpy as np

from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.relu import leaked
from merp.models.arithmetic.tanh import tanh_slope
from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Pool, Shape
from merp.models.golden.pooling import padding, pool_elements
from merp.models.golden.state import Mask, State, max_positions, relu_mask


def unpool(delta: Bits, state: State, shape: Shape, fmt: FloatFormat) -> Bits:
    """Expand a delta to the resolution of the sums and apply ReLU'.

    An average spreads RN(delta * RN(1/window^2)) over its window. A maximum writes the delta to the
    position that forward propagation recorded. Without pooling nothing is added: a word passes or
    becomes +0.

    Args:
        delta: (images, pooled_rows, pooled_columns, maps) words, of any number of maps.
        state: ReLU/pooling mask from forward propagation (``state.keep_state``), of any kind.
        shape: ReLU and pooling of the layer.
        fmt: number format.

    Returns:
        (images, out_rows, out_columns, maps) words.

    Raises:
        ValueError: the delta does not have the shape's size.
    """
    wanted = (shape.pooled_rows, shape.pooled_columns)
    if delta.shape[1:3] != wanted:
        raise ValueError(f"delta must be of size {wanted}, not {delta.shape[1:3]}")
    if state.output is not None:
        delta = fp_mul(delta, tanh_slope(state.output, fmt), fmt)
    mask, position = _recalled(state, shape, fmt)
    # The mask of a maximum may be applied before its contributions are added. They are +0 then, and
    # so is the sum that the mask of the activation would have replaced. A slope is applied there.
    of_maxima = state.kind == "pooled" and position is not None
    if shape.slope and not of_maxima and position is not None and mask is not None:
        assert shape.pool is not None
        mask, of_maxima = _at_maxima(mask, position, shape.pool), True
    if of_maxima:
        delta = _selected(delta, mask, shape.slope, fmt)
    if shape.pool:
        delta = _expanded(delta, position, shape.pool, (shape.out_rows, shape.out_columns), fmt)
    return delta if of_maxima else _selected(delta, mask, shape.slope, fmt)


def _recalled(state: State, shape: Shape, fmt: FloatFormat) -> tuple[Mask | None, Bits | None]:
    """Return mask and positions, computed from the activation if that was stored instead."""
    if state.activation is None:
        return state.mask, state.position
    mask = relu_mask(state.activation, fmt, relu6=shape.relu6) if shape.relu else None
    if shape.pool is None or shape.pool.kind != "max":
        return mask, None
    return mask, max_positions(state.activation, shape.pool, fmt)


def _at_maxima(mask: Mask, position: Bits, pool: Pool) -> Mask:
    """Return the mask of the maximum of each window, from that of each activation."""
    found = np.zeros(position.shape, np.bool_)
    for tap, part in enumerate(pool_elements(np.pad(mask, padding(pool)), pool)):
        found |= part & (position == tap)
    return found


def _selected(delta: Bits, mask: Mask | None, slope: int, fmt: FloatFormat) -> Bits:
    """Return each word, or +0 or its product with the slope where the mask is clear.

    The multiplication by the integers 1 and 0 is no float arithmetic.
    """
    if mask is None:
        return delta
    return leaked(delta, mask, slope, fmt) if slope else delta * mask.astype(np.uint32)


def _expanded(
    delta: Bits, position: Bits | None, pool: Pool, size: tuple[int, int], fmt: FloatFormat
) -> Bits:
    """Add each pooled element's contributions to the elements of its window.

    Of the windows that contain an element, a later one in raster order contains it at an earlier
    tap. Therefore taps descend. Parts are views of the total, which includes places outside the
    map.
    """
    rows, columns = size
    inside = len(delta), rows, columns, delta.shape[-1]
    around = padding(pool)
    total = np.zeros([sum(sides, inside[axis]) for axis, sides in enumerate(around)], np.uint32)
    share = delta
    if position is None:
        share = fp_mul(delta, to_bits(1.0 / pool.window**2, fmt), fmt)
    if pool.stride >= pool.window:  # no windows overlap: all sums are the same
        share = fp_add(np.uint32(0), share, fmt)
    taps = list(enumerate(pool_elements(total, pool)))
    for tap, part in reversed(taps):
        added = fp_add(part, share, fmt) if pool.stride < pool.window else share
        part[...] = added if position is None else np.where(position == tap, added, part)
    part = total[:, pool.top : pool.top + rows, pool.left : pool.left + columns]
    return np.ascontiguousarray(part)
