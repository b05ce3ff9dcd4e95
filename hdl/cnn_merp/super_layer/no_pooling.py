"""Replacement for pool_control in a design without pooling: every output position gives results."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.cnn_merp.super_layer.super_layer_ports import BeatStep, Closing
from merp.hdl.conversion.entity import entity


@entity
def no_pooling(step: BeatStep, closing: Closing) -> Any:
    """Replace pool_control if windows are single elements.

    step     in   the beat of this cycle, and its position
    closing  out  the position completes a window, which is the position itself

    Latency: combinational.
    """

    @always_comb
    def judge() -> None:
        closing.window.next = True
        closing.last.next = step.last_column and step.last_row and step.last_image

    return judge
