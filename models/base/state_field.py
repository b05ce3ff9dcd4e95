"""A field of the ReLU/pooling mask that forward propagation writes (kind ``pooled``)."""

from __future__ import annotations

from merp.models.base.shape import Shape


def position_bits(window: int) -> int:
    """Return the bits of a position in a pooling window of window x window elements."""
    return (window**2 - 1).bit_length()


def state_field_bits(shape: Shape) -> int:
    """Return the bits of a field: ReLU's mask bit, and a position with max pooling; 0 without a
    mask.
    """
    code = position_bits(shape.pool.window) if shape.pool and shape.pool.kind == "max" else 0
    return int(shape.relu) + code


def state_fields(shape: Shape, maps: int) -> int:
    """Return the fields of ``maps`` maps of an image: one per maximum, or, without maxima, one per
    sum.
    """
    if shape.pool is not None and shape.pool.kind == "max":
        return maps * shape.pooled_rows * shape.pooled_columns
    return maps * shape.out_rows * shape.out_columns


def state_bytes(fields: int, field_bits: int) -> int:
    """Return the bytes of a stream of ``fields`` fields, which follow each other without gaps."""
    return -(-fields * field_bits // 8)


STATES = ("32", "1", "pooled")
