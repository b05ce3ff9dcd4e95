"""The ReLU/pooling mask (``state``) that forward propagation stores for backward propagation.

ReLU' and un-pooling read it. Three kinds (``traffic.count.STATES``) give the same deltas bit for
bit:

- ``32``: the activation itself, after ReLU and before pooling, in any format.
- ``1``: the mask of ReLU, one bit per activation, and a position per maximum.
- ``pooled``: the data that expands a delta stored at pooled resolution. With max pooling it is the
  mask bit and the position of each maximum, else the mask of every activation.

The mask is x > 0, of ReLU6 0 < x < 6, so that a NaN stops a delta. Leaky ReLU has the mask of ReLU:
its y is positive if its x is. A position is row * window + column in the pooling window. The first
in raster order wins ties, -0 equals +0, and the first NaN wins over everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.tanh import tanh
from merp.models.arithmetic.words import is_below_six, is_positive
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Pool, Shape
from merp.models.base.state_field import STATES, position_bits, state_field_bits
from merp.models.golden.pooling import largest, pool_maps

Mask = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class State:
    """ReLU/pooling mask of one layer; fields that its kind or the layer does not use are None.

    Attributes:
        kind: ``32``, ``1`` or ``pooled``.
        activation: (images, out_rows, out_columns, maps) words.
        mask: one per activation, or one per maximum (``pooled`` with max pooling).
        position: of the maxima, uint32, (images, pooled_rows, pooled_columns, maps).
        output: (images, pooled_rows, pooled_columns, maps) words, of tanh: its derivative follows
            from it. It is a map in memory, and no part of the mask there.
    """

    kind: str
    activation: Bits | None = None
    mask: Mask | None = None
    position: Bits | None = None
    output: Bits | None = None


def of_maps(state: State, low: int, high: int) -> State:
    """Return the mask of the maps from ``low`` up to, not including, ``high``."""
    return chosen(state, slice(low, high))


def chosen(state: State, maps: slice | NDArray[np.int64]) -> State:
    """Return the mask of some of the maps."""
    return State(
        kind=state.kind,
        activation=None if state.activation is None else state.activation[..., maps],
        mask=None if state.mask is None else state.mask[..., maps],
        position=None if state.position is None else state.position[..., maps],
        output=None if state.output is None else state.output[..., maps],
    )


def joined(states: Sequence[State]) -> State:
    """Return the mask of the maps of several passes, one after the other: the inverse of
    ``of_maps``.

    Raises:
        ValueError: there are no masks, or they differ in kind.
    """
    if not states:
        raise ValueError("nothing to join")

    def join(parts: list[NDArray[Any] | None]) -> NDArray[Any] | None:
        there = [part for part in parts if part is not None]
        if len(there) not in (0, len(parts)):
            raise ValueError("the states to join are not alike")
        return np.concatenate(there, axis=-1) if there else None

    return State(
        kind=states[0].kind,
        activation=join([each.activation for each in states]),
        mask=join([each.mask for each in states]),
        position=join([each.position for each in states]),
        output=join([each.output for each in states]),
    )


def relu_mask(activation: Bits, fmt: FloatFormat, *, relu6: bool = False) -> Mask:
    """Return whether each element passes a delta: x > 0, and with ``relu6`` also x < 6."""
    return is_below_six(activation, fmt) if relu6 else is_positive(activation, fmt)


def max_positions(activation: Bits, pool: Pool, fmt: FloatFormat) -> Bits:
    """Return the position of each window's maximum: (images, pooled rows, pooled columns, maps)."""
    return largest(activation, pool, fmt)[1]


def keep_state(activation: Bits, shape: Shape, kind: str, fmt: FloatFormat) -> State:
    """Extract the ReLU/pooling mask from a layer's activation.

    Args:
        activation: (images, out_rows, out_columns, maps) words, of any number of maps.
        shape: ReLU and pooling of the layer.
        kind: one of ``traffic.count.STATES``.
        fmt: number format.

    Raises:
        ValueError: there is no such kind.
    """
    if kind not in STATES:
        raise ValueError(f"kind of state must be one of {', '.join(STATES)}, not {kind!r}")
    pool = shape.pool if shape.pool and shape.pool.kind == "max" else None
    output = tanh(pool_maps(activation, pool, fmt), fmt) if shape.tanh else None
    if not (shape.relu or pool):
        return State(kind=kind, output=output)
    if kind == "32":
        return State(kind=kind, activation=activation, output=output)
    masked, position = activation, None
    if pool:
        maxima, position = largest(activation, pool, fmt)
        masked = maxima if kind == "pooled" else activation
    mask = relu_mask(masked, fmt, relu6=shape.relu6) if shape.relu else None
    return State(kind=kind, mask=mask, position=position, output=output)


def _fields(state: State, shape: Shape, fmt: FloatFormat) -> Iterator[tuple[Bits, int]]:
    """Yield arrays of fields in the order of packing, each with the width of a field in bits."""
    if state.activation is not None:
        yield state.activation, 8 * -(-fmt.width // 8)
    mask = None if state.mask is None else state.mask.astype(np.uint32)
    if state.position is None or shape.pool is None:
        if mask is not None:
            yield mask, 1
        return
    position_width = position_bits(shape.pool.window)
    if mask is not None and state.kind == "pooled":
        yield state.position << np.uint32(1) | mask, 1 + position_width
        return
    if mask is not None:
        yield mask, 1
    yield state.position, position_width


def packed(state: State, shape: Shape, fmt: FloatFormat) -> bytes:
    """Return the mask as it is stored in memory: one string of bits, the lowest of each byte first.

    Fields follow each other in stream order (image, row, column, map) without gaps, the lowest bit
    of a field first. The last byte is filled up with zeros.

    - ``32``: the words, in whole bytes.
    - ``1``: all mask bits, then all positions.
    - ``pooled`` with max pooling: one field per maximum, the mask in its lowest bit, the position
      above it. Otherwise as ``1``.
    """
    bits = [
        (words.reshape(-1, 1) >> np.arange(width, dtype=np.uint32) & 1).astype(np.uint8).reshape(-1)
        for words, width in _fields(state, shape, fmt)
    ]
    return np.packbits(np.concatenate(bits), bitorder="little").tobytes() if bits else b""


def unpacked(data: bytes, shape: Shape, maps: int, images: int) -> State:
    """Return the mask of kind ``pooled`` from bytes that hardware writes: the inverse of
    ``packed``.

    Args:
        data: bytes in the format of ``packed``.
        shape: ReLU and pooling of the layer.
        maps: in ``data``; those of one group if each group is packed separately.
        images: in ``data``.

    Raises:
        ValueError: the mask does not have this number of bytes.
    """
    pool = shape.pool if shape.pool and shape.pool.kind == "max" else None
    rows, columns = shape.out_rows, shape.out_columns
    width = state_field_bits(shape)
    if pool:
        rows, columns = shape.pooled_rows, shape.pooled_columns
    size = images, rows, columns, maps
    total = images * rows * columns * maps * width
    if len(data) != -(-total // 8):
        raise ValueError(f"state of {maps} maps must be {-(-total // 8)} bytes, not {len(data)}")
    bits = np.unpackbits(np.frombuffer(data, np.uint8), count=total, bitorder="little")
    fields = bits.reshape(*size, width).astype(np.uint32)
    mask = fields[..., 0].astype(np.bool_) if shape.relu else None
    if pool is None:
        return State(kind="pooled", mask=mask)
    code = fields[..., int(shape.relu) :]
    weights = np.uint32(1) << np.arange(code.shape[-1], dtype=np.uint32)
    position = (code * weights).sum(axis=-1, dtype=np.uint32)
    return State(kind="pooled", mask=mask, position=position)
