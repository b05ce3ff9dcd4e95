"""Words on the ports in a pass of one group, by formula: the reference of the hardware's counts.

Each phase has its ports. Parts of the input maps, additions and pooled deltas have further ports.
"""

from __future__ import annotations

from merp.models.base.fused_shape import FusedShape
from merp.models.base.input_part import WHOLE, InputPart
from merp.models.base.shape import Shape
from merp.models.traffic.count import state_read_bytes


def port_words(shape: Shape, images: int, part: InputPart | None = None) -> dict[str, int]:
    """Return the words that cross each port in the forward pass of one group.

    ``part``: on a design with ports for partial sums, the part of the layer's input maps that
    ``shape`` has.
    """
    words = {
        "map_in": images * shape.n * shape.rows * shape.columns,
        "map_out": images * shape.m * shape.pooled_rows * shape.pooled_columns,
        "kernel": shape.n * shape.m * shape.k**2,
        "bias": shape.m,
    }
    if part is None:
        return words
    sums = images * shape.m * shape.out_rows * shape.out_columns
    return words | {
        "map_out": words["map_out"] * part.last,
        "bias": words["bias"] * part.biases,
        "partial_in": sums * part.partial_in,
        "partial_out": sums * part.partial_out,
    }


def fused_port_words(shape: FusedShape, images: int, state: bool) -> dict[str, int]:
    """Return the words that cross each port if two layers are one pass of forward propagation.

    The output of the first layer crosses a port only if ``state`` (in bytes) is output, too. The
    kernel update of the second layer then needs it.
    """
    first, second, groups = shape
    one, other = port_words(first, images), port_words(second, images)
    words = {
        "map_in": one["map_in"],
        "kernel": one["kernel"],
        "bias": one["bias"],
        "second_kernel": groups * other["kernel"],
        "second_bias": groups * other["bias"],
        "map_out": groups * other["map_out"],
    }
    if state:
        words |= {
            "between_out": one["map_out"],
            "between_state_out": state_bytes(first, first.m, images),
            "state_out": groups * state_bytes(second, second.m, images),
        }
    return words


def added_words(shape: Shape, images: int) -> int:
    """Return the words that are read to be added to the sums of one group, in forward propagation.

    In delta propagation ``shape`` is the convolution of the engine (``delta_shape``).
    """
    return images * shape.m * shape.out_rows * shape.out_columns


def begun_words(beside: Shape, maps: int, images: int) -> dict[str, int]:
    """Return the start words (of the mask: bytes) of a delta propagation's sums, one group.

    They are ``maps`` maps of the delta of ``beside`` at pooled resolution, and their mask.
    """
    return {
        "add_in": images * maps * beside.pooled_rows * beside.pooled_columns,
        "add_state_in": state_bytes(beside, maps, images),
    }


def state_bytes(shape: Shape, maps: int, images: int) -> int:
    """Return the bytes of the mask of ``maps`` maps of a layer, kind ``pooled``, one pass."""
    return state_read_bytes(shape, maps, images, "pooled", 0)


def delta_port_words(
    shape: Shape,
    unpooled: Shape,
    maps: int,
    images: int,
    before: bool,
    part: InputPart | None = None,
) -> dict[str, int]:
    """Return the words that cross each port in delta propagation of one group.

    ``unpooled`` is the layer whose ReLU and pooling are undone, of ``maps`` maps. With ``before``
    it is the layer itself, in front of the engine; otherwise the layer in front. The mask is of
    kind ``pooled`` and counts in bytes. ``part``: on a design with ports for partial sums, the part
    of the layer's output maps that ``shape`` has.
    """
    sums = images * maps * unpooled.out_rows * unpooled.out_columns
    pooled = images * maps * unpooled.pooled_rows * unpooled.pooled_columns
    inputs = images * shape.n * shape.rows * shape.columns
    words = {
        "delta_in": pooled if before else images * shape.m * shape.out_rows * shape.out_columns,
        "delta_out": inputs if before else sums,
        "kernel": shape.n * shape.m * shape.k**2,
        "state_in": state_bytes(unpooled, maps, images),
    }
    if part is None:
        return words
    return words | {
        "delta_out": words["delta_out"] * part.last,
        "state_in": words["state_in"] * (before or part.last),
        "partial_in": inputs * part.partial_in,
        "partial_out": inputs * part.partial_out,
    }


def update_port_words(
    shape: Shape, images: int, before: bool = False, part: InputPart = WHOLE
) -> dict[str, int]:
    """Return the words that cross each port in the kernel update of one group.

    With ``before`` deltas arrive at pooled resolution, with their mask, which counts in bytes.
    ``part`` is the part of the layer's input maps that ``shape`` has.
    """
    kernels = shape.n * shape.m * shape.k**2
    words = {
        "map_in": images * shape.n * shape.rows * shape.columns,
        "delta_in": images * shape.m * shape.out_rows * shape.out_columns,
        "kernel": kernels,
        "bias": shape.m * part.biases,
        "kernel_out": kernels,
        "bias_out": shape.m * part.biases,
    }
    if before:
        words["delta_in"] = images * shape.m * shape.pooled_rows * shape.pooled_columns
        words["state_in"] = state_bytes(shape, shape.m, images)
    return words


def backward_port_words(shape: Shape, images: int) -> dict[str, int]:
    """Return the words that cross each port if both backward phases of a group are one pass.

    The delta is read once, at pooled resolution, with its mask (in bytes). The kernels are also
    read once.
    """
    propagated = delta_port_words(shape, shape, shape.m, images, before=True)
    return propagated | update_port_words(shape, images, before=True)
