"""Run-time registers of forward propagation: those of its engine, and its own."""

from __future__ import annotations

from merp.models.base.input_part import WHOLE, InputPart
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.registers import ADD, EngineRun, registers


def forward_registers(
    shape: Shape, images: int, design: EngineDesign, part: InputPart = WHOLE
) -> dict[str, int]:
    """Return the value of every configuration port, by flattened name, for one run.

    The caller has checked that the shape, and its part of the input maps, fit the design.
    """
    values = registers(shape, images, design, part)
    if design.added and design.map_port > 1:
        values |= ADD.values(EngineRun(shape, images, design, part))
    return values
