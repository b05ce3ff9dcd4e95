"""Sequencer of FP and DP: in every cycle, issue a slot or report the cause of a stall.

Source: the RTL compiler's paper, sections III.B and III.C. A slot processes one tap of an input
map, for a tile of pixels of as many output maps as there are lanes.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.ports.arrivals import KernelArrivals, PacedArrivals
from merp.hdl.mac_array.ports.maps import AxisRead
from merp.hdl.mac_array.ports.registers import LayerWalkConfig
from merp.hdl.mac_array.ports.slots import ArrayVerdict, LayerIssue
from merp.hdl.mac_array.sequencer.kernel_walk import kernel_walk
from merp.hdl.mac_array.sequencer.layer_loops import layer_loops
from merp.hdl.mac_array.sequencer.map_reader import map_reader
from merp.hdl.mac_array.sequencer.sequencer_ports import LayerLoops
from merp.hdl.mac_array.sequencer.window_axis import window_axis
from merp.models.machines.mac_array.params.design import ArrayDesign


@block
def _maps_there(
    clk: Bit,
    rst: Bit,
    start: Bit,
    arrivals: PacedArrivals,
    next_band: Bit,
    maps: Word,
    there: Word,
) -> Any:
    """Count maps whose rows have arrived for this band, and for the next one."""
    arrived, complete = arrivals.arrived, arrivals.complete

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
    config: LayerWalkConfig,
    kernels: KernelArrivals,
    maps: PacedArrivals,
    drained: Bit,
    issued: LayerIssue,
    verdict: ArrayVerdict,
    design: ArrayDesign,
) -> Any:
    """Issue the slots of a pass; the pipeline behind never stalls.

    The loops are, from the outside: bands of rows, row phases, tiles of lanes, tiles of columns,
    column phases, input maps, taps. Each iteration is a slot. Phases exist in DP with a stride: the
    pixels of a phase are equal modulo the stride and use the same taps. A tile belongs to one
    phase, and may be empty. A slot waits for its kernel words; the last slot of a tile also waits
    for the bias. A slot waits for the rows of its map in its band. The last slot of a tile waits
    until the sums of the previous tile have been read.

    config   in       registers, stable from start to the last slot
    kernels  in       kernel words that have arrived (parameter_intake)
    maps     in, out  rows of a map for its next band, and the end of a band
    drained  in       pulse: the last sum of a tile is read
    issued   out      a slot and its reads, a cycle after the issue
    verdict  out      the verdict of this cycle; no flag is set when no slot is left

    Throughput: a slot per cycle. Reset: nothing to issue.
    """
    pox, poy, pof = design.pox, design.poy, design.pof
    walk, slot = config.walk, issued.slot
    complete, computed = maps.complete, maps.computed
    busy, fire = flag(), flag()
    loops = LayerLoops(design)
    across, down, ends = loops.across, loops.down, loops.ends
    each_map = loops.each_map
    element = count(design.max_kernel**2)
    first = flag()  # the first slot of the tile
    read_out = flag()  # the sums of the previous tile have been read
    # maps that have arrived for this band and for the next one
    maps_there = count(2 * design.max_maps + 1)
    kernels_there = flag()
    beside, below = AxisRead(design, pox), AxisRead(design, poy)
    rewind_columns = flag()

    @always_comb
    def judge() -> None:
        fire.next = False
        verdict.stall_kernel.next = False
        verdict.stall_input.next = False
        verdict.stall_output.next = False
        if busy:
            if not kernels_there:
                verdict.stall_kernel.next = True
            elif not complete and maps_there <= each_map:
                verdict.stall_input.next = True
            elif ends.tap and ends.map and not read_out:
                verdict.stall_output.next = True
            else:
                fire.next = True

    @always_comb
    def find() -> None:
        element.next = down.tap + across.tap

    @always_comb
    def tell() -> None:
        verdict.issue.next = fire
        verdict.final_issue.next = loops.next_band and loops.last_band
        verdict.maps.next = 1
        verdict.rows.next = poy
        verdict.columns.next = pox
        verdict.lanes.next = pof
        if loops.last_band:
            verdict.rows.next = walk.last_rows
            if down.phase < walk.more_rows:
                verdict.rows.next = walk.last_rows + 1
        if loops.last_column_tile:
            verdict.columns.next = walk.last_columns
            if across.phase < walk.more_columns:
                verdict.columns.next = walk.last_columns + 1
        if ends.group:
            verdict.lanes.next = walk.last_lanes

    @always_comb
    def move() -> None:
        rewind_columns.next = start or loops.next_group

    @always(clk.posedge)
    def advance() -> None:
        computed.next = loops.next_band
        if fire:
            first.next = loops.next_tile
        if loops.next_tile:
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

    @always(clk.posedge)
    def issue() -> None:
        slot.valid.next = fire
        if fire:
            slot.first.next = first
            slot.last.next = loops.next_tile
            slot.biased.next = False
        if rst:
            slot.valid.next = False

    position = layer_loops(clk, start, walk=walk, fire=fire, loops=loops, design=design)
    stock_taking = _maps_there(
        clk, rst, start, arrivals=maps, next_band=loops.next_band, maps=walk.maps, there=maps_there
    )
    horizontal = window_axis(
        clk, config=config.columns, rewind=rewind_columns, advance=loops.next_column_tile,
        restart=loops.next_row, ahead=across.ahead, step=fire, read=beside, design=design, tile=pox,
    )  # fmt: skip
    vertical = window_axis(
        clk, config=config.rows, rewind=start, advance=loops.next_band, restart=loops.next_map,
        ahead=down.ahead, step=loops.next_row, read=below, design=design, tile=poy,
    )  # fmt: skip
    words = kernel_walk(
        clk, start, config=walk, fire=fire, element=element, ends=ends, kernels=kernels,
        there=kernels_there, read=issued.kernels, design=design,
    )  # fmt: skip
    reads = map_reader(
        clk, rst, fire=fire, down=below, across=beside, base=each_map, read=issued.maps
    )
    return (
        judge, find, tell, move, advance, issue, position, stock_taking, horizontal, vertical,
        words, reads,
    )  # fmt: skip
