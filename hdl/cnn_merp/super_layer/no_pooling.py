"""A design without pooling: every output position gives results."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.cnn_merp.super_layer.super_layer_ports import Step
from merp.hdl.conversion.entity import Bit, entity


@entity
def no_pooling(step: Step, closes: Bit, closes_last: Bit) -> Any:
    """Stand in for pool_control where windows are single elements.

    step         in   the beat of this cycle, and its position
    closes       out  windows that the position completes: itself
    closes_last  out  it completes the last window of the run

    Latency: combinational.
    """

    @always_comb
    def judge() -> None:
        closes.next = True
        closes_last.next = step.last_column and step.last_row and step.last_image

    return judge
