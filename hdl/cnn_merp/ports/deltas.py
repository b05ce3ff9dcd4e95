"""Registers of the blocks that un-pool and dilate deltas."""

from __future__ import annotations

from merp.hdl.base.registers import RegisterBundle
from merp.models.machines.cnn_merp.params.delta_registers import DILATE
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.models.machines.cnn_merp.params.unpool_registers import unpool_table


class UnpoolConfig(RegisterBundle):
    """Run-time registers of un-pooling, from ``unpool_table``."""

    def __init__(self, design: UnpoolDesign) -> None:
        super().__init__(unpool_table(design), design)


class DilateConfig(RegisterBundle):
    """Run-time registers of the dilater, from the table ``DILATE``."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(DILATE, design)
