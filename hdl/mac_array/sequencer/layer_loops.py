"""The nested loops of a pass of FP or DP: the current slot, and the loops that end with it."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit
from merp.hdl.mac_array.ports.registers import WalkConfig
from merp.hdl.mac_array.sequencer.sequencer_ports import LayerLoops, Taps
from merp.hdl.mac_array.sequencer.tap_axis import tap_axis
from merp.models.machines.mac_array.params.design import ArrayDesign


@block
def layer_loops(
    clk: Bit, start: Bit, walk: WalkConfig, fire: Bit, loops: LayerLoops, design: ArrayDesign
) -> Any:
    """Go over the taps of every map and tile of a pass, in the order of ``pass_sequencer``.

    walk   in   registers, stable from start
    fire   in   the current slot is issued
    loops  out  state of the loops

    Throughput: a slot per cycle. Reset: none, begin with start.
    """
    across, down, ends = loops.across, loops.down, loops.ends
    tile, group, band = count(design.max_size), count(design.max_tiles), count(design.max_size)
    next_down_phase = flag()

    @always_comb
    def join() -> None:
        ends.tap.next = across.last_tap and down.last_tap
        ends.tile.next = loops.last_column_tile and across.last_phase

    @always_comb
    def carry() -> None:
        loops.next_row.next = fire and across.last_tap
        loops.next_map.next = fire and ends.tap
        loops.next_tile.next = fire and ends.tap and ends.map

    @always_comb
    def carry_on() -> None:
        loops.next_column_tile.next = loops.next_tile and across.last_phase
        loops.next_group.next = loops.next_tile and ends.tile
        next_down_phase.next = loops.next_tile and ends.tile and ends.group
        loops.next_band.next = loops.next_tile and ends.tile and ends.group and down.last_phase

    right = tap_axis(
        clk, start, step=fire, next_phase=loops.next_tile, place=across, taps=Taps(
            phases=walk.phases, first=walk.first, stride=walk.phases, unit=1, size=walk.kernel,
        ),
    )  # fmt: skip
    below = tap_axis(
        clk, start, step=loops.next_row, next_phase=next_down_phase, place=down, taps=Taps(
            phases=walk.phases, first=walk.first_line, stride=walk.line_step, unit=walk.kernel,
            size=walk.taps,
        ),
    )  # fmt: skip
    others = (
        loop_index(
            clk, start, step=loops.next_map, size=walk.maps, index=loops.each_map, final=ends.map
        ),
        loop_index(
            clk, start, step=loops.next_column_tile, size=walk.tiles, index=tile,
            final=loops.last_column_tile,
        ),
        loop_index(
            clk, start, step=loops.next_group, size=walk.groups, index=group, final=ends.group
        ),
        loop_index(
            clk, start, step=loops.next_band, size=walk.bands, index=band, final=loops.last_band
        ),
    )  # fmt: skip
    return join, carry, carry_on, right, below, others
