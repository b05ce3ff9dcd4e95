"""The sequencer of FP and DP: in every cycle, issue a slot or name the reason why not.

The RTL compiler's paper, sections III.B and III.C: a tap of an input map a cycle, for a tile of
pixels of as many output maps as there are lanes.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.ports.maps import AxisRead, MapRead
from merp.hdl.mac_array.ports.registers import ColumnsConfig, RowsConfig, WalkConfig
from merp.hdl.mac_array.ports.slots import KernelRead, Slot, Verdict
from merp.hdl.mac_array.sequencer.kernel_walk import kernel_walk
from merp.hdl.mac_array.sequencer.map_reader import map_reader
from merp.hdl.mac_array.sequencer.tap_axis import tap_axis
from merp.hdl.mac_array.sequencer.window_axis import window_axis
from merp.models.machines.mac_array.params.design import Design


@block
def _maps_there(
    clk: Bit,
    rst: Bit,
    start: Bit,
    arrived: Bit,
    complete: Bit,
    next_band: Bit,
    maps: Word,
    there: Word,
) -> Any:
    """Count maps whose rows are there for this band, and for the next one."""

    @always(clk.posedge)
    def count() -> None:
        if next_band and arrived:
            there.next = there - maps + 1
        elif next_band and not complete:
            there.next = there - maps
        elif arrived:
            there.next = there + 1
        if start or rst:
            there.next = 0

    return count


@entity
def pass_sequencer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    walk: WalkConfig,
    rows: RowsConfig,
    columns: ColumnsConfig,
    progress: Word,
    loaded: Bit,
    arrived: Bit,
    complete: Bit,
    drained: Bit,
    computed: Bit,
    slot: Slot,
    map_read: MapRead,
    kernel_read: KernelRead,
    verdict: Verdict,
    design: Design,
) -> Any:
    """Issue the slots of a pass; everything behind is a pipeline that never stalls.

    For each band of rows: for each phase of rows: for each tile of lanes: for each tile of columns:
    for each phase of columns: for each map that comes in: for each tap: a slot. Phases are those of
    DP with a stride: pixels of equal place modulo the stride, which meet the same taps. A tile is
    one of a phase, and may be empty. A slot waits for its kernel words (the last one of a tile for
    the bias, too), for the rows of its map that its band needs, and, if it is the last one of its
    tile, until the sums of the tile before have been read.

    walk, rows, columns  in  registers, stable from start to the last slot
    progress, loaded     in  kernel words that are there (parameter_intake)
    arrived              in  pulse: a map's rows of the next band are there
    complete             in  all rows of all maps are
    drained              in  pulse: the last read of a tile's sums
    computed             out  pulse: the last slot of a band was issued in the cycle before
    slot, map_read, kernel_read  out  a cycle after the issue
    verdict              out  of this cycle; nothing is named when no slot is left

    Throughput: a slot per cycle. Reset: nothing to issue.
    """
    pox, poy, pof = design.pox, design.poy, design.pof
    busy = flag()
    # Behind each other from the innermost loop on: the loop is at its end, and all within it are.
    column, line = count(design.max_kernel), count(design.max_kernel**2)  # tap, its row's first
    element, each_map = count(design.max_kernel**2), count(design.max_maps)
    right_phase, down_phase = count(design.max_stride), count(design.max_stride)
    tile, group, band = count(design.max_size), count(design.max_tiles), count(design.max_size)
    last_column, last_row, last_map = flag(), flag(), flag()
    last_tile, last_group, last_band = flag(), flag(), flag()
    last_right_phase, last_down_phase, last_column_tile = flag(), flag(), flag()
    fire, next_row, next_map, next_tile = flag(), flag(), flag(), flag()
    next_column_tile, next_group, next_down_phase, next_band = (flag() for _ in range(4))
    last_tap = flag()

    first = flag()  # the tile's first slot
    read_out = flag()  # the sums of the tile before have been read
    maps_there = count(2 * design.max_maps + 1)  # of this band and of the next one
    kernels_there = flag()
    across, down = AxisRead(design, pox), AxisRead(design, poy)
    restart_rows, restart_columns = flag(), flag()
    advance_columns, rewind_columns = flag(), flag()
    right_ahead, down_ahead = flag(), flag()

    @always_comb
    def judge() -> None:
        last_tap.next = last_column and last_row
        last_tile.next = last_column_tile and last_right_phase
        fire.next = False
        verdict.stall_kernel.next = False
        verdict.stall_input.next = False
        verdict.stall_output.next = False
        if busy:
            if not kernels_there:
                verdict.stall_kernel.next = True
            elif not complete and maps_there <= each_map:
                verdict.stall_input.next = True
            elif last_column and last_row and last_map and not read_out:
                verdict.stall_output.next = True
            else:
                fire.next = True

    @always_comb
    def carry() -> None:
        next_row.next = fire and last_column
        next_map.next = fire and last_tap
        next_tile.next = fire and last_tap and last_map

    @always_comb
    def carry_on() -> None:
        next_column_tile.next = next_tile and last_right_phase
        next_group.next = next_tile and last_tile
        next_down_phase.next = next_tile and last_tile and last_group
        next_band.next = next_tile and last_tile and last_group and last_down_phase

    @always_comb
    def find() -> None:
        element.next = line + column

    @always_comb
    def tell() -> None:
        verdict.issue.next = fire
        verdict.final_issue.next = next_band and last_band
        verdict.maps.next = 1
        verdict.rows.next = poy
        verdict.columns.next = pox
        verdict.lanes.next = pof
        if last_band:
            verdict.rows.next = walk.last_rows
            if down_phase < walk.more_rows:
                verdict.rows.next = walk.last_rows + 1
        if last_column_tile:
            verdict.columns.next = walk.last_columns
            if right_phase < walk.more_columns:
                verdict.columns.next = walk.last_columns + 1
        if last_group:
            verdict.lanes.next = walk.last_lanes

    @always_comb
    def move() -> None:
        restart_columns.next = next_row
        advance_columns.next = next_column_tile
        rewind_columns.next = start or next_group
        restart_rows.next = next_map

    loops = (
        tap_axis(
            clk,
            start,
            step=fire,
            next_phase=next_tile,
            phases=walk.phases,
            first=walk.first,
            stride=walk.phases,
            unit=1,
            size=walk.kernel,
            tap=column,
            last_tap=last_column,
            phase=right_phase,
            last_phase=last_right_phase,
            ahead=right_ahead,
        ),
        tap_axis(
            clk,
            start,
            step=next_row,
            next_phase=next_down_phase,
            phases=walk.phases,
            first=walk.first_line,
            stride=walk.line_step,
            unit=walk.kernel,
            size=walk.taps,
            tap=line,
            last_tap=last_row,
            phase=down_phase,
            last_phase=last_down_phase,
            ahead=down_ahead,
        ),
        loop_index(clk, start, step=next_map, size=walk.maps, index=each_map, final=last_map),
        loop_index(
            clk, start, step=next_column_tile, size=walk.tiles, index=tile, final=last_column_tile
        ),
        loop_index(clk, start, step=next_group, size=walk.groups, index=group, final=last_group),
        loop_index(clk, start, step=next_band, size=walk.bands, index=band, final=last_band),
    )

    @always(clk.posedge)
    def advance() -> None:
        computed.next = next_band
        if fire:
            first.next = next_tile
        if next_tile:
            read_out.next = False
        elif drained:
            read_out.next = True
        if verdict.final_issue:
            busy.next = False
        if start:
            busy.next = True
            first.next = True
            read_out.next = True
        if rst:
            busy.next = False
            computed.next = False

    stock_taking = _maps_there(
        clk,
        rst,
        start,
        arrived=arrived,
        complete=complete,
        next_band=next_band,
        maps=walk.maps,
        there=maps_there,
    )

    @always(clk.posedge)
    def issue() -> None:
        slot.valid.next = fire
        if fire:
            slot.first.next = first
            slot.last.next = next_tile
            slot.biased.next = False
        if rst:
            slot.valid.next = False

    horizontal = window_axis(
        clk, config=columns, rewind=rewind_columns, advance=advance_columns,
        restart=restart_columns, ahead=right_ahead, step=fire, read=across, design=design, tile=pox,
    )  # fmt: skip
    vertical = window_axis(
        clk, config=rows, rewind=start, advance=next_band, restart=restart_rows, ahead=down_ahead,
        step=next_row, read=down, design=design, tile=poy,
    )  # fmt: skip
    words = kernel_walk(
        clk, start, config=walk, fire=fire, element=element, last_tap=last_tap, last_map=last_map,
        last_tile=last_tile, last_group=last_group, progress=progress, loaded=loaded,
        there=kernels_there, read=kernel_read, design=design,
    )  # fmt: skip
    reads = map_reader(clk, rst, fire=fire, down=down, across=across, base=each_map, read=map_read)
    return (
        judge, carry, carry_on, find, tell, move, loops, advance, stock_taking, issue, horizontal,
        vertical, words, reads,
    )  # fmt: skip
