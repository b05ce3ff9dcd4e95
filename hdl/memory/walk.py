"""Walk through memory in up to four dimensions, a run of consecutive words at a time."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.requests import Runs, WalkConfig
from merp.hdl.memory.walk_dimension import walk_dimension
from merp.models.memory.params.mover import Mover


@entity
def walk(clk: Bit, rst: Bit, start: Bit, config: WalkConfig, runs: Runs, mover: Mover) -> Any:
    """Send the runs of a walk, the fastest dimension first.

    start   in   begin a walk; a walk in progress ends
    config  in   the walk; stable from start to the last run
    runs    out  the runs; last is set with the last one

    Addresses count words, modulo the address space. Latency: the first run is valid one cycle after
    start. Throughput: a run per cycle. Reset: no walk is in progress.
    """
    width = mover.address_bits
    dimensions = (config.inner, config.second, config.third, config.outer)
    width = mover.address_bits
    active, advance = flag(), flag()
    over = [flag(1)] + [flag() for _ in dimensions]  # the dimensions inside make their last step
    # Behind the last run the address does not matter, so the slowest dimension has one jump.
    jumps = [*(bits(width) for _ in dimensions), config.outer.jump]
    jump, all_over = jumps[0], over[-1]

    @always_comb
    def offer() -> None:
        runs.length.next = config.length
        runs.valid.next = active
        runs.last.next = all_over
        advance.next = active and runs.ready

    @always(clk.posedge)
    def move() -> None:
        total = intbv(0)[width + 1 :]
        if start:
            active.next = True
            runs.address.next = config.base
        elif advance:
            active.next = not all_over
            total[:] = runs.address + jump
            runs.address.next = total[width:]  # a negative jump wraps
        if rst:
            active.next = False

    levels = [
        walk_dimension(
            clk,
            load=start,
            step=advance,
            inner_over=over[at],
            over=over[at + 1],
            config=dimension,
            outward=jumps[at + 1],
            jump=jumps[at],
        )
        for at, dimension in enumerate(dimensions)
    ]
    return offer, move, levels
