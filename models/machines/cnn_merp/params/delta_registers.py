"""Run-time registers of delta propagation."""

from __future__ import annotations

from dataclasses import replace

from merp.models.base.delta_shape import delta_shape, plain_inputs
from merp.models.base.folded_shape import FoldedShape, run_shape
from merp.models.base.input_part import WHOLE, InputPart
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.registers import (
    IMAGES,
    PORT,
    EngineRun,
    LayerRegister,
    LayerTable,
    registers,
)
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.models.machines.cnn_merp.params.unpool_registers import (
    ADDED_BUNDLE,
    UnpoolRun,
    unpool_registers,
    unpool_table,
)

MAX_DILATION = 16
"""The largest stride that delta propagation undoes."""


def _engine(run: EngineRun) -> Shape:
    """Return the shape that the engine convolves."""
    return run_shape(delta_shape(run.shape), run.design.k)


def _spread(run: EngineRun) -> Shape:
    """Return the shape that is dilated: the words of a pixel.

    A folded image counts as one pixel, because no zeros are inserted.
    """
    shape = _engine(run)
    if run.design.map_port > 1 and isinstance(shape, FoldedShape):
        beats = run.design.map_words(shape.n * run.design.taps)
        return Shape(n=beats, m=1, k=1, rows=1, columns=1)
    return replace(shape, n=run.design.map_words(shape.n))


def _most_words(design: EngineDesign) -> int:
    """Return the largest number of words of a pixel, or of an image of a folded layer."""
    if design.map_port > 1 and design.folded:
        return design.map_words(design.max_maps * design.taps)
    return design.map_words(design.max_maps)


DILATE = LayerTable("dilate_config", (
    IMAGES,
    LayerRegister(
        "rows", 1, lambda design: design.max_size, "rows of a delta map after dilation",
        lambda run: _spread(run).rows,
    ),
    LayerRegister(
        "columns", 1, lambda design: design.max_size, "columns of a delta map after dilation",
        lambda run: _spread(run).columns,
    ),
    LayerRegister(
        "maps", 1, _most_words, "delta maps that come in (words of map_port deltas)",
        lambda run: _spread(run).n,
    ),
    LayerRegister(
        "stride", 1, lambda design: MAX_DILATION, "stride of the layer's convolution",
        lambda run: 1 if isinstance(_engine(run), FoldedShape) else run.shape.stride,
    ),
))  # fmt: skip
"""Registers of the dilater; a run's shape is the layer's, as in forward propagation."""

_NOTHING = Shape(n=1, m=1, k=1, rows=1, columns=1, relu=False)


def delta_registers(
    shape: Shape,
    unpooled: Shape,
    maps: int,
    images: int,
    engine: EngineDesign,
    unpool: UnpoolDesign,
    part: InputPart = WHOLE,
    add_unpool: UnpoolDesign | None = None,
    beside: Shape | None = None,
) -> dict[str, int]:
    """Return the value of every configuration port, by flattened name, for one run.

    The caller has checked that all sizes fit. With ``add_unpool``, if ``part`` starts the sums at a
    stream, this stream is expanded, too.

    Args:
        shape: the layer's, as in forward propagation.
        unpooled: the shape whose ReLU and pooling are undone, on ``maps`` maps.
        part: the part of the input deltas.
        beside: the shape whose ReLU and pooling are undone on the start of the sums, on the layer's
            n maps; None: there are none.
    """
    values = {
        **registers(delta_shape(shape), images, engine, part),
        **DILATE.values(EngineRun(shape, images, engine)),
        **unpool_registers(unpooled, maps, images, unpool),
    }
    if add_unpool is not None:
        expanded, started = beside or plain_inputs(shape), shape.n
        if not part.added:  # there is no such stream: its maps need not fit
            expanded, started = _NOTHING, 1
        run = UnpoolRun(expanded, started, images, add_unpool)
        values |= unpool_table(add_unpool, ADDED_BUNDLE).values(run)
    if engine.map_port > 1:  # the zeros of a dilation are not streamed
        values[f"{PORT.bundle}_pixels"] = images * shape.out_rows * shape.out_columns
    return values
