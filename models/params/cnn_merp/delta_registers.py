"""Run-time registers of delta propagation."""

from __future__ import annotations

from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.input_part import WHOLE, InputPart
from merp.models.params.cnn_merp.registers import (
    IMAGES,
    LayerRegister,
    LayerRun,
    LayerTable,
    registers,
)
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign
from merp.models.params.cnn_merp.unpool_registers import unpool_registers
from merp.models.params.delta_shape import delta_shape
from merp.models.params.folded_shape import run_shape
from merp.models.params.shape import Shape

MAX_DILATION = 16
"""The largest stride that delta propagation undoes."""


def _engine(run: LayerRun) -> Shape:
    """What the engine convolves."""
    return run_shape(delta_shape(run.shape), run.design.k)


DILATE = LayerTable("dilate_config", (
    IMAGES,
    LayerRegister(
        "rows", 1, lambda design: design.max_size, "rows of a delta map after dilation",
        lambda run: _engine(run).rows,
    ),
    LayerRegister(
        "columns", 1, lambda design: design.max_size, "columns of a delta map after dilation",
        lambda run: _engine(run).columns,
    ),
    LayerRegister(
        "maps", 1, lambda design: design.max_maps, "delta maps that come in",
        lambda run: _engine(run).n,
    ),
    LayerRegister(
        "stride", 1, lambda design: MAX_DILATION, "stride of the layer's convolution",
        lambda run: run.shape.stride,
    ),
))  # fmt: skip
"""Of the dilater; a run's shape is the layer's, as in forward propagation."""


def delta_registers(
    shape: Shape,
    unpooled: Shape,
    maps: int,
    images: int,
    engine: Design,
    unpool: UnpoolDesign,
    part: InputPart = WHOLE,
) -> dict[str, int]:
    """Value of every configuration port, by flattened name, for one run.

    ``shape`` is the layer's, as in forward propagation; ``unpooled`` the one whose ReLU and pooling
    are undone, on ``maps`` maps; ``part`` that of the deltas that come in. The caller has checked
    that all fit.
    """
    return {
        **registers(delta_shape(shape), images, engine, part),
        **DILATE.values(LayerRun(shape, images, engine)),
        **unpool_registers(unpooled, maps, images, unpool),
    }
