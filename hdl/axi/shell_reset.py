"""Resets of an AXI shell: one for the whole shell, and one for the engine alone."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, entity
from merp.models.base.register_map import ABORT_CYCLES


@entity
def shell_reset(
    clk: Bit, aresetn: Bit, abort: Bit, rst: Bit, engine_rst: Bit, aborting: Bit
) -> Any:
    """Register the resets of a shell, so that no pin and no decoder drives thousands of loads.

    aresetn     in   reset of the whole shell, active low
    abort       in   pulse: reset the engine alone
    rst         out  reset of the registers and their bus
    engine_rst  out  reset of the engine
    aborting    out  the engine is being reset; a start is accepted again when this falls

    Latency: rst follows aresetn by one cycle, engine_rst follows rst by one cycle. aborting begins
    one cycle after abort and lasts ABORT_CYCLES. engine_rst begins and ends one cycle after
    aborting. Reset: no abort is in progress.
    """
    left = bits(ABORT_CYCLES.bit_length())

    @always_comb
    def tell() -> None:
        aborting.next = left != 0

    @always(clk.posedge)
    def hold() -> None:
        rst.next = not aresetn
        engine_rst.next = rst or aborting
        if aborting:
            left.next = left - 1
        if abort:
            left.next = ABORT_CYCLES
        if rst:
            left.next = 0

    return tell, hold
