"""Sequencer of KU: sweeps of the deltas over the maps, one slot per cycle or a stall cause.

Source: the RTL compiler's paper, sections III.E and III.F. The array holds kernel gradients, and a
delta takes the place of a weight.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.arrivals import Arrivals, PacedArrivals
from merp.hdl.mac_array.ports.maps import AxisRead
from merp.hdl.mac_array.ports.registers import SweepConfig, SweepWalkConfig
from merp.hdl.mac_array.ports.slots import ArrayVerdict, DeltaRead, SweepIssue
from merp.hdl.mac_array.sequencer.map_reader import map_reader
from merp.hdl.mac_array.sequencer.region_axis import region_axis
from merp.hdl.mac_array.sequencer.sequencer_ports import RunMoves, RunPieces, SweepLoops
from merp.hdl.mac_array.sequencer.stock import stock
from merp.hdl.mac_array.sequencer.sweep_loops import sweep_loops
from merp.models.machines.mac_array.params.design import ArrayDesign


@block
def _deltas(
    clk: Bit,
    start: Bit,
    sweep: SweepConfig,
    fire: Bit,
    loops: SweepLoops,
    read: DeltaRead,
    design: ArrayDesign,
) -> Any:
    """Read the delta of every slot; each sweep reads the deltas of its tile of lanes again.

    Tiles alternate between the halves of the memories. ``fire``: the current slot is issued.
    """
    pox = design.pox
    half = flag()  # half of the delta memories
    atom, delta_base = count(2 * design.delta_words), count(2 * design.delta_words)
    pixel = count(pox - 1)

    @always(clk.posedge)
    def walk() -> None:
        if loops.next_sweep:
            pixel.next = 0
            delta_base.next = 0
            atom.next = 0
        elif loops.next_row:
            pixel.next = 0
            delta_base.next = delta_base + sweep.atoms
            atom.next = delta_base + sweep.atoms
        elif fire:
            if pixel == pox - 1:
                pixel.next = 0
                atom.next = atom + 1
            else:
                pixel.next = pixel + 1
        if loops.next_tile:
            half.next = not half
        if start:
            pixel.next = 0
            delta_base.next = 0
            atom.next = 0
            half.next = False

    @always(clk.posedge)
    def ask() -> None:
        if fire:
            read.pixel.next = pixel
            read.addr.next = atom
            if half:
                read.addr.next = atom + design.delta_words

    return walk, ask


@entity
def gradient_sequencer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: SweepWalkConfig,
    maps: Arrivals,
    deltas: PacedArrivals,
    drained: Bit,
    issued: SweepIssue,
    verdict: ArrayVerdict,
    design: ArrayDesign,
) -> Any:
    """Issue the slots of a KU pass; the pipeline behind never stalls.

    The loops are, from the outside: tiles of lanes, groups of maps, tiles of taps (rows first).
    Each iteration is a sweep, with a slot for each output row and column. A slot waits for its row
    of deltas. In the first tile of lanes, it also waits for the map rows of its window. The last
    slot of a sweep waits until the sums of the previous sweep have been read.

    config   in       registers, stable from start to the last slot
    maps     in       rows of all maps of a group
    deltas   in, out  rows of all lanes of a tile, and the end of a tile
    drained  in       pulse: the last sum of a sweep is read
    issued   out      a slot and its reads, a cycle after the issue
    verdict  out      the verdict of this cycle; no flag is set when no slot is left

    Throughput: a slot per cycle. Reset: nothing to issue.
    """
    pox, poy, pof = design.pox, design.poy, design.pof
    sweep, slot = config.sweep, issued.slot
    maps_complete, deltas_complete, computed = maps.complete, deltas.complete, deltas.computed
    busy, fire = flag(), flag()
    loops = SweepLoops()
    last_column, last_row = loops.last_column, loops.last_row
    next_sweep, next_group, next_tile = loops.next_sweep, loops.next_group, loops.next_tile

    first, read_out = flag(), flag()
    # first sweep of a tile; the maps arrive during the first tile
    biased, first_tile = flag(), flag()
    group_base = count(2 * design.map_words)
    aside, below = AxisRead(design, pox), AxisRead(design, poy)
    rewind_columns, rewind_rows = flag(), flag()
    # Rows of deltas and of maps; a new group of maps only arrives in the first tile of lanes.
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
    def move() -> None:
        rewind_columns.next = start or loops.next_down
        rewind_rows.next = start or next_group
        other_maps.next = next_group and first_tile

    @always_comb
    def tell() -> None:
        verdict.issue.next = fire
        verdict.final_issue.next = next_tile and loops.last_tile
        verdict.rows.next = sweep.taps
        verdict.columns.next = sweep.taps
        verdict.maps.next = sweep.maps
        verdict.lanes.next = pof
        if loops.last_down:
            verdict.rows.next = sweep.last_taps
        if loops.last_across:
            verdict.columns.next = sweep.last_taps
        if loops.last_group:
            verdict.maps.next = sweep.last_maps
        if loops.last_tile:
            verdict.lanes.next = sweep.last_lanes

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
            group_base.next = 0
        if rst:
            busy.next = False
            computed.next = False

    @always(clk.posedge)
    def issue() -> None:
        slot.valid.next = fire
        if fire:
            slot.first.next = first
            slot.last.next = next_sweep
            slot.biased.next = biased
        if rst:
            slot.valid.next = False

    position = sweep_loops(clk, start, sweep=sweep, fire=fire, loops=loops, design=design)
    stocks = (
        stock(
            clk, rst, start, arrived=maps.arrived, there=maps_there,
            run=RunPieces(pieces=sweep.map_rows, first=sweep.reach, stride=sweep.stride),
            moves=RunMoves(step=loops.next_row, rewind=next_sweep, advance=other_maps),
            runs=design.max_maps, longest=design.max_size,
        ),
        stock(
            clk, rst, start, arrived=deltas.arrived, there=deltas_there,
            run=RunPieces(pieces=sweep.rows, first=1, stride=1),
            moves=RunMoves(step=loops.next_row, rewind=next_sweep, advance=next_tile),
            runs=design.max_tiles, longest=design.max_size,
        ),
    )  # fmt: skip
    delta_reads = _deltas(
        clk, start, sweep=sweep, fire=fire, loops=loops, read=issued.deltas, design=design
    )
    horizontal = region_axis(
        clk, config=config.columns, rewind=rewind_columns, advance=next_sweep,
        restart=loops.next_row, step=fire, read=aside, design=design, tile=pox,
    )  # fmt: skip
    vertical = region_axis(
        clk, config=config.rows, rewind=rewind_rows, advance=loops.next_down, restart=next_sweep,
        step=loops.next_row, read=below, design=design, tile=poy,
    )  # fmt: skip
    map_reads = map_reader(
        clk, rst, fire=fire, down=below, across=aside, base=group_base, read=issued.maps
    )
    return (
        judge, move, tell, advance, issue, position, stocks, delta_reads, horizontal, vertical,
        map_reads,
    )  # fmt: skip
