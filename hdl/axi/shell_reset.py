"""The resets of an AXI shell: that of everything, and that of the engine alone, by software."""

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

    aresetn     in   of everything, active low
    abort       in   pulse: the engine alone is to be reset
    rst         out  of the registers and of their bus
    engine_rst  out  of the engine
    aborting    out  the engine is being reset; a start is taken again when it falls

    Latency: rst one cycle behind aresetn, engine_rst one behind rst; aborting begins one cycle
    after abort and lasts ABORT_CYCLES, engine_rst begins and ends one cycle behind it. Reset:
    nothing is aborting.
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
