"""Order of the rows of pooled deltas, and addresses of the places of their maxima."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.quota_index import quota_index
from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.ports.unpooling import ArrayUnpoolConfig
from merp.models.machines.mac_array.params.design import ArrayDesign


@entity
def pooled_walk(
    clk: Bit,
    start: Bit,
    config: ArrayUnpoolConfig,
    step: Bit,
    addr: Word,
    ends: Bit,
    design: ArrayDesign,
) -> Any:
    """Go from a pooled row to the next.

    DP: bands of rows, maps, rows. KU: tiles of lanes, rows, lanes. Un-pooling pass: maps, rows.

    config  in   registers, stable from start on
    step    in   go to the next row
    addr    out  word of the index memory for the first atom of the current row
    ends    out  the row is the last one

    Throughput: a row per cycle. Reset: none, begin with start.
    """
    top, most = 2 * design.index_words, max(design.max_size, design.max_maps)
    outer, middle, inner, quota = (count(most) for _ in range(4))
    last_outer, last_middle, last_inner, next_middle, next_outer = (flag() for _ in range(5))
    middle_base, outer_base = count(top), count(top)

    @always_comb
    def carry() -> None:
        next_middle.next = step and last_inner
        next_outer.next = step and last_inner and last_middle
        ends.next = last_inner and last_middle and last_outer

    @always(clk.posedge)
    def move() -> None:
        if next_outer:
            if not last_outer:
                if outer == 0:
                    outer_base.next = outer_base + config.outer_first
                    middle_base.next = outer_base + config.outer_first
                    addr.next = outer_base + config.outer_first
                else:
                    outer_base.next = outer_base + config.outer_step
                    middle_base.next = outer_base + config.outer_step
                    addr.next = outer_base + config.outer_step
            quota.next = config.further
            if outer + 2 == config.outer:
                quota.next = config.last
        elif next_middle:
            middle_base.next = middle_base + config.middle_step
            addr.next = middle_base + config.middle_step
        elif step:
            addr.next = addr + config.inner_step
        if start:
            outer_base.next = config.index_base
            middle_base.next = config.index_base
            addr.next = config.index_base
            quota.next = config.first

    loops = (
        quota_index(clk, start, step=step, quota=quota, index=inner, final=last_inner),
        loop_index(
            clk, start, step=next_middle, size=config.middle, index=middle, final=last_middle
        ),
        loop_index(clk, start, step=next_outer, size=config.outer, index=outer, final=last_outer),
    )
    return carry, move, loops
