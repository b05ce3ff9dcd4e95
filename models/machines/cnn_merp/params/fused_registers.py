"""Run-time registers of two layers fused in forward propagation: of both layers, and of groups."""

from __future__ import annotations

from merp.models.base.fused_shape import FusedShape
from merp.models.base.register_map import Settings
from merp.models.base.state_field import position_bits, state_field_bits
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.forward_registers import forward_registers
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.machines.cnn_merp.params.registers import (
    LOAD,
    MAP,
    EngineRun,
    LayerRegister,
    LayerTable,
    output_table,
    with_sides,
)

SECOND = "second_"
"""Prefix of the names of the second layer's registers and ports."""


def _most_state(design: EngineDesign) -> int:
    field = 1 + position_bits(design.pool_window)
    return max(1, design.groups * design.n_cu * field // 8)


TURN = LayerTable("turn_config", (
    LayerRegister(
        "kernels", 1, lambda design: design.kernel_words * design.n_cu * design.taps,
        "words of the second layer's kernels of a group, n * m * k * k",
        lambda run: run.shape.n * run.shape.m * run.shape.taps,
    ),
    LayerRegister(
        "inputs", 1, lambda design: design.max_maps, "n, input maps of one of its groups",
        lambda run: run.shape.n,
    ),
    LayerRegister(
        "maps", 1, lambda design: design.groups * design.n_cu, "m, output maps of one",
        lambda run: run.shape.m,
    ),
    LayerRegister(
        "state", 1, _most_state, "bytes of state that these leave at a position (1 if none)",
        lambda run: max(1, run.shape.m * state_field_bits(run.shape) // 8),
    ),
))  # fmt: skip
"""Registers of a second layer in two groups, which alternate on the streams of both."""


def fused_registers(shape: FusedShape, images: int, design: FusedDesign) -> dict[str, int]:
    """Return the value of every configuration port, by flattened name, for one run.

    The caller has checked that the shapes fit the design.
    """
    values = forward_registers(shape.first, images, design.first)
    behind = forward_registers(shape.second, images, design.second)
    values |= {f"{SECOND}{name}": value for name, value in behind.items()}
    turns = TURN.values(EngineRun(shape.second, images, design.second))
    return values | (turns if shape.groups > 1 else {})


def second_settings(design: EngineDesign) -> Settings:
    """Return the registers of the second layer."""
    own = {
        **with_sides(MAP, design).settings(design),
        **LOAD.settings(design),
        **output_table(design).settings(design),
    }
    return {**{f"{SECOND}{name}": each for name, each in own.items()}, **TURN.settings(design)}
