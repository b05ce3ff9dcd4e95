"""Advance and restart of the rows and columns of the output positions."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.cnn_merp.super_layer.super_layer_ports import BeatStep, PoolSteps
from merp.hdl.conversion.entity import Bit


@block
def pool_strobes(
    start: Bit,
    step: BeatStep,
    rows: PoolSteps,
    columns: PoolSteps,
) -> Any:
    """Split the steps of drain by direction; a restart has priority over an advance."""

    @always_comb
    def strobe() -> None:
        columns.advance.next = step.issue and step.ends_position
        rows.advance.next = step.issue and step.ends_position and step.last_column
        columns.restart.next = start or (step.issue and step.ends_position and step.last_column)
        rows.restart.next = start or (
            step.issue and step.ends_position and step.last_column and step.last_row
        )

    return strobe
