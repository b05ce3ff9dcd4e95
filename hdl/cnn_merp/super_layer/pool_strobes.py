"""When the rows and the columns of the output positions go on, and when they begin anew."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.cnn_merp.super_layer.super_layer_ports import Step
from merp.hdl.conversion.entity import Bit


@block
def pool_strobes(
    start: Bit,
    step: Step,
    row_restart: Bit,
    row_advance: Bit,
    column_restart: Bit,
    column_advance: Bit,
) -> Any:
    """Take drain's steps apart into those of the two directions; a restart wins over an advance."""

    @always_comb
    def strobe() -> None:
        column_advance.next = step.issue and step.ends_position
        row_advance.next = step.issue and step.ends_position and step.last_column
        column_restart.next = start or (step.issue and step.ends_position and step.last_column)
        row_restart.next = start or (
            step.issue and step.ends_position and step.last_column and step.last_row
        )

    return strobe
