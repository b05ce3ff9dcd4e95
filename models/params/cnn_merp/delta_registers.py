"""Run-time registers of delta propagation."""

from __future__ import annotations

from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.registers import registers
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign, unpool_registers
from merp.models.params.delta_shape import delta_shape
from merp.models.params.shape import Shape

MAX_DILATION = 16
"""The largest stride that delta propagation undoes."""


def delta_registers(
    shape: Shape, undone: Shape, maps: int, images: int, engine: Design, unpool: UnpoolDesign
) -> dict[str, int]:
    """Value of every configuration port, by flattened name, for one run.

    ``shape`` is the layer's, as in forward propagation; ``undone`` the one whose ReLU and pooling
    are undone, on ``maps`` maps. The caller has checked that both fit.
    """
    swapped = delta_shape(shape)
    dilation = {
        "images": images,
        "rows": swapped.rows,
        "columns": swapped.columns,
        "maps": swapped.n,
        "stride": shape.stride,
    }
    return {
        **registers(swapped, images, engine),
        **{f"dilate_config_{name}": value for name, value in dilation.items()},
        **unpool_registers(undone, maps, images, unpool),
    }
