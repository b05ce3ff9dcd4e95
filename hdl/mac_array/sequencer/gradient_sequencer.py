"""The sequencer of KU: sweeps of the deltas over the maps, a slot a cycle or the reason why not.

The RTL compiler's paper, sections III.E and III.F: the array holds kernel gradients, and a pixel of
the deltas stands where a weight was.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.maps import AxisRead, MapRead
from merp.hdl.mac_array.ports.registers import RegionColumnsConfig, RegionRowsConfig, SweepConfig
from merp.hdl.mac_array.ports.slots import DeltaRead, Slot, Verdict
from merp.hdl.mac_array.sequencer.map_reader import map_reader
from merp.hdl.mac_array.sequencer.region_axis import region_axis
from merp.hdl.mac_array.sequencer.stock import stock
from merp.models.machines.mac_array.params.design import Design


@entity
def gradient_sequencer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    sweep: SweepConfig,
    rows: RegionRowsConfig,
    columns: RegionColumnsConfig,
    map_row: Bit,
    maps_complete: Bit,
    delta_row: Bit,
    deltas_complete: Bit,
    drained: Bit,
    computed: Bit,
    slot: Slot,
    map_read: MapRead,
    delta_read: DeltaRead,
    verdict: Verdict,
    design: Design,
) -> Any:
    """Issue the slots of a pass of KU; everything behind is a pipeline that never stalls.

    For each tile of lanes: for each group of maps: for each tile of taps, rows first: a sweep, a
    slot for each output row and column. A slot waits for its row of deltas, and in the first tile
    of lanes for the rows of the maps that its window needs; a sweep's last one until the sums of
    the sweep before have been read.

    sweep, rows, columns  in  registers, stable from start to the last slot
    map_row, delta_row    in  pulse: a row of all maps of a group, of all lanes of a tile is there
    maps_complete         in  all rows of all maps are
    deltas_complete       in  all rows of deltas are
    drained               in  pulse: the last read of a sweep's sums
    computed              out  pulse: a tile's last slot was issued in the cycle before
    slot, map_read, delta_read  out  a cycle after the issue
    verdict               out  of this cycle; nothing is named when no slot is left

    Throughput: a slot per cycle. Reset: nothing to issue.
    """
    pox, poy, pof = design.pox, design.poy, design.pof
    top = 2 * design.map_words
    busy, fire = flag(), flag()
    column, row, sideways, down = (count(design.max_size) for _ in range(4))
    group, tile = count(design.max_maps), count(design.max_tiles)
    last_column, last_row, last_across, last_down = (flag() for _ in range(4))
    last_group, last_tile = flag(), flag()
    next_row, next_sweep, next_down, next_group, next_tile = (flag() for _ in range(5))

    first, read_out = flag(), flag()
    biased, first_tile = flag(), flag()  # first sweep of a tile; the maps come during the first
    group_base = count(top)
    half = flag()  # of the delta memories
    atom, delta_base = count(2 * design.delta_words), count(2 * design.delta_words)
    pixel = count(pox - 1)
    aside, below = AxisRead(design, pox), AxisRead(design, poy)
    restart_columns, advance_columns, rewind_columns = flag(), flag(), flag()
    restart_rows, advance_rows, rewind_rows = flag(), flag(), flag()
    # Rows of deltas and maps; of these, another group in the first tile of lanes.
    deltas_there, maps_there, other_maps = flag(), flag(), flag()

    @always_comb
    def judge() -> None:
        fire.next = False
        verdict.stall_kernel.next = False
        verdict.stall_input.next = False
        verdict.stall_output.next = False
        if busy:
            if not deltas_complete and not deltas_there:
                verdict.stall_input.next = True
            elif first_tile and not maps_complete and not maps_there:
                verdict.stall_input.next = True
            elif last_column and last_row and not read_out:
                verdict.stall_output.next = True
            else:
                fire.next = True

    @always_comb
    def carry() -> None:
        next_row.next = fire and last_column
        next_sweep.next = fire and last_column and last_row
        next_down.next = fire and last_column and last_row and last_across
        next_group.next = fire and last_column and last_row and last_across and last_down
        next_tile.next = (
            fire and last_column and last_row and last_across and last_down and last_group
        )

    @always_comb
    def move() -> None:
        restart_columns.next = next_row
        advance_columns.next = next_sweep
        rewind_columns.next = start or next_down
        restart_rows.next = next_sweep
        advance_rows.next = next_down
        rewind_rows.next = start or next_group
        other_maps.next = next_group and first_tile

    @always_comb
    def tell() -> None:
        verdict.issue.next = fire
        verdict.final_issue.next = next_tile and last_tile
        verdict.rows.next = sweep.taps
        verdict.columns.next = sweep.taps
        verdict.maps.next = sweep.maps
        verdict.lanes.next = pof
        if last_down:
            verdict.rows.next = sweep.last_taps
        if last_across:
            verdict.columns.next = sweep.last_taps
        if last_group:
            verdict.maps.next = sweep.last_maps
        if last_tile:
            verdict.lanes.next = sweep.last_lanes

    loops = (
        loop_index(clk, start, step=fire, size=sweep.columns, index=column, final=last_column),
        loop_index(clk, start, step=next_row, size=sweep.rows, index=row, final=last_row),
        loop_index(
            clk, start, step=next_sweep, size=sweep.tap_tiles, index=sideways, final=last_across
        ),
        loop_index(clk, start, step=next_down, size=sweep.tap_tiles, index=down, final=last_down),
        loop_index(clk, start, step=next_group, size=sweep.groups, index=group, final=last_group),
        loop_index(clk, start, step=next_tile, size=sweep.lane_groups, index=tile, final=last_tile),
    )

    @always(clk.posedge)
    def advance() -> None:
        computed.next = next_tile
        if fire:
            first.next = next_sweep
        if next_sweep:
            read_out.next = False
            biased.next = next_tile
        elif drained:
            read_out.next = True
        if next_tile:
            first_tile.next = False
            half.next = not half
            group_base.next = 0
        elif next_group:
            group_base.next = group_base + sweep.group_words
        if verdict.final_issue:
            busy.next = False
        if start:
            busy.next = True
            first.next = True
            read_out.next = True
            biased.next = True
            first_tile.next = True
            half.next = False
            group_base.next = 0
        if rst:
            busy.next = False
            computed.next = False

    stocks = (
        stock(
            clk, rst, start, arrived=map_row, run=sweep.map_rows, first=sweep.reach,
            stride=sweep.stride, step=next_row, rewind=next_sweep, advance=other_maps,
            there=maps_there, runs=design.max_maps, longest=design.max_size,
        ),
        stock(
            clk, rst, start, arrived=delta_row, run=sweep.rows, first=1, stride=1, step=next_row,
            rewind=next_sweep, advance=next_tile, there=deltas_there,
            runs=design.max_tiles, longest=design.max_size,
        ),
    )  # fmt: skip

    @always(clk.posedge)
    def walk_deltas() -> None:
        if next_sweep:
            pixel.next = 0
            delta_base.next = 0
            atom.next = 0
        elif next_row:
            pixel.next = 0
            delta_base.next = delta_base + sweep.atoms
            atom.next = delta_base + sweep.atoms
        elif fire:
            if pixel == pox - 1:
                pixel.next = 0
                atom.next = atom + 1
            else:
                pixel.next = pixel + 1
        if start:
            pixel.next = 0
            delta_base.next = 0
            atom.next = 0

    @always(clk.posedge)
    def issue() -> None:
        slot.valid.next = fire
        if fire:
            slot.first.next = first
            slot.last.next = next_sweep
            slot.biased.next = biased
            delta_read.pixel.next = pixel
            delta_read.addr.next = atom
            if half:
                delta_read.addr.next = atom + design.delta_words
        if rst:
            slot.valid.next = False

    horizontal = region_axis(
        clk, config=columns, rewind=rewind_columns, advance=advance_columns,
        restart=restart_columns, step=fire, read=aside, design=design, tile=pox,
    )  # fmt: skip
    vertical = region_axis(
        clk, config=rows, rewind=rewind_rows, advance=advance_rows, restart=restart_rows,
        step=next_row, read=below, design=design, tile=poy,
    )  # fmt: skip
    reads = map_reader(
        clk, rst, fire=fire, down=below, across=aside, base=group_base, read=map_read
    )
    return (
        judge, carry, move, tell, loops, advance, stocks, walk_deltas, issue, horizontal, vertical,
        reads,
    )  # fmt: skip
