"""One dimension of a walk: it counts its steps."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.signals import bits
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

    The counter is one below the steps that are left, so its sign is a register that names the last
    step. Latency: combinational. Reset: none, begin with load.
    """
    width = len(config.more)
    minus_one = (1 << width + 1) - 1
    below = bits(width + 1)  # steps behind the present one, less one, in two's complement

    @always_comb
    def choose() -> None:
        over.next = inner_over and below[width]
        if below[width]:
            jump.next = outward
        else:
            jump.next = config.jump

    @always(clk.posedge)
    def count_down() -> None:
        steps = intbv(0)[width + 2 :]
        if load or (step and inner_over):
            steps[:] = below
            if load or below[width]:
                steps[:] = config.more
            steps[:] = steps + minus_one
            below.next = steps[width + 1 :]

    return choose, count_down
