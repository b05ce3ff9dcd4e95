"""The nested loops of a pass of KU: the current slot, and the loops that end with it."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.signals import count
from merp.hdl.conversion.entity import Bit
from merp.hdl.mac_array.ports.registers import SweepConfig
from merp.hdl.mac_array.sequencer.sequencer_ports import SweepLoops
from merp.models.machines.mac_array.params.design import ArrayDesign


@block
def sweep_loops(
    clk: Bit, start: Bit, sweep: SweepConfig, fire: Bit, loops: SweepLoops, design: ArrayDesign
) -> Any:
    """Go over the pixels of every sweep of a pass, in the order of ``gradient_sequencer``.

    sweep  in   registers, stable from start
    fire   in   the current slot is issued
    loops  out  state of the loops

    Throughput: a slot per cycle. Reset: none, begin with start.
    """
    column, row, sideways, down = (count(design.max_size) for _ in range(4))
    group, tile = count(design.max_maps), count(design.max_tiles)
    last_column, last_row = loops.last_column, loops.last_row
    last_across, last_down = loops.last_across, loops.last_down
    last_group = loops.last_group

    @always_comb
    def carry() -> None:
        loops.next_row.next = fire and last_column
        loops.next_sweep.next = fire and last_column and last_row
        loops.next_down.next = fire and last_column and last_row and last_across
        loops.next_group.next = fire and last_column and last_row and last_across and last_down
        loops.next_tile.next = (
            fire and last_column and last_row and last_across and last_down and last_group
        )

    nested = (
        loop_index(clk, start, step=fire, size=sweep.columns, index=column, final=last_column),
        loop_index(clk, start, step=loops.next_row, size=sweep.rows, index=row, final=last_row),
        loop_index(
            clk, start, step=loops.next_sweep, size=sweep.tap_tiles, index=sideways,
            final=last_across,
        ),
        loop_index(
            clk, start, step=loops.next_down, size=sweep.tap_tiles, index=down, final=last_down
        ),
        loop_index(
            clk, start, step=loops.next_group, size=sweep.groups, index=group, final=last_group
        ),
        loop_index(
            clk, start, step=loops.next_tile, size=sweep.lane_groups, index=tile,
            final=loops.last_tile,
        ),
    )  # fmt: skip
    return carry, nested
