"""Size a design for the layers that share it, and check a layer against a design.

``needs`` defines the requirements of a layer in one place: ``size_design`` takes the largest,
``check_fits`` compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.base.fixed import FixedFormat
from merp.models.base.folded_shape import FoldedShape, run_shape
from merp.models.base.formats import FloatFormat
from merp.models.base.shape import Shape
from merp.models.base.widened_shape import WidenedShape
from merp.models.machines.cnn_merp.params.design import Count, EngineDesign

MAX_KERNEL_ELEMENTS = 1 << 22
"""Limit of kernel elements that the CUs of a design hold together: 16 MiB in binary32. VGG-16's
largest convolution (9.4 MB) is below it. A fully connected layer of tens of millions of weights is
above it, and is traffic-only.
"""

MAX_MEMORY_WORDS = 1 << 21
"""Limit of words that the input and pooling memories of a design hold together. Each word is a
signal of a simulation, of 1.7 kB. The largest shipped memories, VGG-16's, have 10^5 words.
"""

MAXIMA = (
    "kernel_words", "groups", "row_words", "max_size", "max_maps", "max_stride", "fifo_words",
    "pool_window", "pool_overlap", "pool_words",
)  # fmt: skip

FROM_LAYERS = ("folded", "sided", "widened", "hanging", "far", "relu6", "leaky")
"""Options that a design has if one of its layers needs them."""

_CHOICES = tuple(
    f.name for f in fields(EngineDesign) if f.name not in (*MAXIMA, "average", *FROM_LAYERS)
)


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def groups_of(shape: Shape, n_cu: int) -> int:
    """Return G, the number of rounds of all CUs for all output maps of a window."""
    return _ceil_div(shape.m, n_cu)


def beats_of(groups: Count, design: EngineDesign) -> Count:
    """Return the beats in which ReLU and pooling process one output position, r elements each."""
    return groups * _ceil_div(design.n_cu, design.r)


def _needs(shape: Shape, design: EngineDesign) -> dict[str, int]:
    """Return the minimum maxima for ``shape``: all but ``fifo_words`` and ``pool_words``.

    Only the choices of ``design`` are used here (k, n_cu, ...), not its maxima.
    """
    groups = groups_of(shape, design.n_cu)
    pool = shape.pool
    late_rows, late_columns = shape.late
    walked = shape.out_rows + late_rows, shape.out_columns + late_columns
    return {
        "kernel_words": shape.n * groups,
        "groups": groups,
        "row_words": _ceil_div(shape.columns, design.k) * design.map_words(shape.n),
        "max_size": max(shape.rows, shape.columns, *walked),
        "max_maps": shape.n,
        "max_stride": max(shape.stride, pool.stride if pool else 1),
        # A 1 x 1 window that skips elements also needs the pooling unit.
        "pool_window": max(pool.window, min(pool.stride, 2)) if pool else 1,
        "pool_overlap": _ceil_div(pool.window, pool.stride) if pool else 1,
    }


def fifo_words(inputs: Count, groups: Count, design: EngineDesign) -> Count:
    """Return the FIFO words with which the CU array never waits for ReLU and pooling.

    A position's space is reserved when its last input map starts, and released when its last beat
    is output. In between are the latencies of the array and the pooling unit, a few registers, and
    the beats themselves. Meanwhile the array starts a new position every n*G cycles. The space is
    for at least two positions.
    """
    occupied = design.array_latency + design.pool_latency + 8 + beats_of(groups, design)
    return groups * (1 + -(-occupied // (inputs * groups)))


def pool_words(pooled_columns: int, groups: Count, design: EngineDesign) -> Count:
    """Return the partial results of one pooling row in one pool memory of ``design``."""
    return _ceil_div(pooled_columns, design.pool_overlap) * beats_of(groups, design)


def _pool_words(shape: Shape, design: EngineDesign) -> int:
    """Return the partial results of a layer; a window of one element never waits in a memory."""
    if shape.pool is None or shape.pool.window == 1:
        return 1
    return pool_words(shape.pooled_columns, groups_of(shape, design.n_cu), design)


def size_design(shapes: Sequence[Shape], **chosen: Any) -> EngineDesign:
    """Return the smallest design that runs every one of ``shapes`` at full rate.

    ``chosen`` are fields of ``EngineDesign``: at least n_cu. k defaults to the largest of the
    shapes, and every maximum to the minimum for the shapes.

    Raises:
        ValueError: no shapes, or a chosen value is out of its range.
    """
    if not shapes:
        raise ValueError("a design needs at least one shape")
    if any(shape.tanh for shape in shapes):
        raise ValueError("activation tanh: its units have ReLU alone")
    choices = {"k": max(shape.k for shape in shapes)} | {
        key: chosen[key] for key in chosen if key in _CHOICES
    }
    shapes = [run_shape(shape, choices["k"]) for shape in shapes]
    choices["folded"] = any(isinstance(shape, FoldedShape) for shape in shapes)
    choices["widened"] = any(isinstance(shape, WidenedShape) for shape in shapes)
    choices["sided"] = any(shape.left != shape.top for shape in shapes)
    choices["hanging"] = any(shape.hanging for shape in shapes)
    choices["relu6"] = any(shape.relu6 for shape in shapes)
    choices["far"] = any(shape.far for shape in shapes)
    choices["leaky"] = any(shape.slope for shape in shapes)
    maxima = {key: value for key, value in chosen.items() if key not in _CHOICES}
    average = any(shape.pool is not None and shape.pool.kind == "average" for shape in shapes)
    smallest = dict.fromkeys(MAXIMA, 1)
    design = EngineDesign(**(smallest | {"average": average} | choices | maxima | _room(maxima)))
    needed = [_needs(shape, design) for shape in shapes]
    largest = {key: max(need[key] for need in needed) for key in needed[0]}
    design = replace(design, **(largest | maxima | _room(largest | maxima)))
    slots = {(shape.n, groups_of(shape, design.n_cu)) for shape in shapes}
    buffers = {
        "fifo_words": max(fifo_words(inputs, groups, design) for inputs, groups in slots),
        "pool_words": max(_pool_words(shape, design) for shape in shapes),
    }
    return replace(design, **(buffers | maxima))


def _room(maxima: dict[str, int]) -> dict[str, int]:
    """Return a FIFO depth for ``groups``, used until the final depth is known."""
    return {"fifo_words": maxima["groups"]} if "groups" in maxima else {}


def check_memories(design: EngineDesign) -> None:
    """Check that the memories of ``design`` can be elaborated.

    Raises:
        ValueError: its input and pooling memories have too many words.
    """
    words = design.taps * design.d * design.row_words * design.map_port
    words += design.r * design.pool_overlap**2 * design.pool_words
    if words > MAX_MEMORY_WORDS:
        raise ValueError(
            f"input and pooling memories of {words:,} words: at most {MAX_MEMORY_WORDS:,} are "
            "allowed; without a design the layer is traffic-only"
        )


def check_size(shape: Shape, numbers: FloatFormat | FixedFormat) -> None:
    """Check that there is a design for a layer of this shape.

    Raises:
        ValueError: there is none.
    """
    size_design([shape], n_cu=1, r=1, fmt=numbers)


def check_fits(shape: Shape, images: int, design: EngineDesign, where: str) -> None:
    """Check that ``design`` can run ``images`` images of ``shape``.

    ``where`` opens the message (file and layer).

    Raises:
        BadInput: the design does not support the layer; the message gives the reason. Possible
            reasons are the size of the kernel, the padding, ReLU6, leaky ReLU, average pooling,
            windows that extend beyond the edges, or an exceeded maximum.
    """
    shape = run_shape(shape, design.k)
    if shape.k != design.k:
        raise BadInput(f"{where}: kernel size {shape.k}: the design is built for k = {design.k}")
    if isinstance(shape, WidenedShape) and not design.widened:
        raise BadInput(
            f"{where}: kernel size {shape.kernel}: the design is built for k = {shape.k} alone"
        )
    if isinstance(shape, FoldedShape) and not design.folded:
        raise BadInput(f"{where}: fully connected: the design is built for convolutions alone")
    if shape.left != shape.top and not design.sided:
        raise BadInput(
            f"{where}: pad of {shape.top} above and {shape.left} on the left: the design is built "
            "for as much on the left as above"
        )
    if shape.relu6 and not design.relu6:
        raise BadInput(f"{where}: ReLU6: the design is built for ReLU alone")
    if shape.slope and not design.leaky:
        raise BadInput(f"{where}: leaky ReLU: the design is built without its multipliers")
    if shape.hanging and not design.hanging:
        raise BadInput(
            f"{where}: pooling windows hang over the edge of the {shape.out_rows} x "
            f"{shape.out_columns} sums: the design is built for whole windows alone"
        )
    if shape.far and not design.far:
        assert shape.pool
        raise BadInput(
            f"{where}: pooling windows hang over the edge by their stride of {shape.pool.stride} "
            "or more: the design is built for less alone"
        )
    if shape.pool and shape.pool.kind == "average" and not design.average:
        raise BadInput(f"{where}: average pooling: the design is built with average = false")
    needed = _needs(shape, design) | {
        "max_images": images,
        "fifo_words": groups_of(shape, design.n_cu) * design.p,
        "pool_words": _pool_words(shape, design),
    }
    for key, need in needed.items():
        if need > getattr(design, key):
            raise BadInput(
                f"{where}: needs {key} = {need}: the design has {key} = {getattr(design, key)}"
            )
