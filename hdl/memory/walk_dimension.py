"""One dimension of a walk: it counts its steps."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.memory.requests import DimensionConfig


@entity
def walk_dimension(
    clk: Bit,
    load: Bit,
    step: Bit,
    inner_over: Bit,
    over: Bit,
    config: DimensionConfig,
    outward: Word,
    jump: Word,
) -> Any:
    """Count the steps of a dimension, and choose the jump to the next run.

    load        in   begin a walk
    step        in   the walk goes on to its next run
    inner_over  in   the dimensions inside this one make their last step
    over        out  so does this one
    config      in   number of steps, and jump
    outward     in   the jump, if this dimension makes its last step
    jump        out  the jump, if the dimensions inside make their last step

    Latency: combinational. Reset: none, begin with load.
    """
    left = bits(len(config.more))  # steps behind the present one
    final = flag()

    @always_comb
    def end() -> None:
        final.next = left == 0

    @always_comb
    def choose() -> None:
        over.next = inner_over and final
        if final:
            jump.next = outward
        else:
            jump.next = config.jump

    @always(clk.posedge)
    def count_down() -> None:
        if load or (step and inner_over and final):
            left.next = config.more
        elif step and inner_over:
            left.next = left - 1

    return end, choose, count_down
