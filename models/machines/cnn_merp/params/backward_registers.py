"""Run-time registers of both backward phases in one pass: those of both halves."""

from __future__ import annotations

from merp.models.base.rates import Rates
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.delta_registers import delta_registers
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import kernel_update_registers
from merp.models.machines.cnn_merp.params.registers import MAP
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign

DELTA_BUNDLE = "delta_config"
"""The port of the registers of delta propagation's input side; ``MAP.bundle`` is the update's."""


def backward_registers(
    shape: Shape,
    images: int,
    propagation: EngineDesign,
    update: EngineDesign,
    unpool: UnpoolDesign,
    rates: Rates,
) -> dict[str, int]:
    """Return the value of every configuration port, by flattened name, for one run.

    Args:
        shape: one group of the layer, as in forward propagation.
        images: the batch.
        propagation, update, unpool: the designs; the run fits them.
        rates: words of the factors; factors of +0 are not built.
    """
    propagated = delta_registers(shape, shape, shape.m, images, propagation, unpool)
    mine = f"{MAP.bundle}_"
    renamed = {
        name.replace(mine, f"{DELTA_BUNDLE}_") if name.startswith(mine) else name: value
        for name, value in propagated.items()
    }
    return renamed | kernel_update_registers(shape, images, update, rates)
