"""A field of the state that forward propagation writes for the way back (kind ``pooled``)."""

from __future__ import annotations

from merp.models.base.shape import Shape


def position_bits(window: int) -> int:
    """Bits of a position in a pooling window of window x window elements."""
    return (window**2 - 1).bit_length()


def state_field_bits(shape: Shape) -> int:
    """Bits of a field: ReLU's mask bit, a position with max pooling; 0 where there is no state."""
    code = position_bits(shape.pool.window) if shape.pool and shape.pool.kind == "max" else 0
    return int(shape.relu) + code


def state_fields(shape: Shape, maps: int) -> int:
    """Fields of the state of ``maps`` maps of an image: one of each maximum, else of each sum."""
    if shape.pool is not None and shape.pool.kind == "max":
        return maps * shape.pooled_rows * shape.pooled_columns
    return maps * shape.out_rows * shape.out_columns


def state_bytes(fields: int, field_bits: int) -> int:
    """Bytes of a stream of so many fields, which follow each other without gaps."""
    return -(-fields * field_bits // 8)


STATES = ("32", "1", "pooled")
