"""Input of deltas in a kernel update: each atom goes to its lane, up to two tiles ahead.

An atom is a beat of pox words. Source: the RTL compiler's paper, section III.E.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.quota_index import quota_index
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.arrivals import PacedArrivals
from merp.hdl.mac_array.ports.maps import DeltaWrite
from merp.hdl.mac_array.ports.registers import DeltaLoadConfig
from merp.hdl.streams.credit_gate import credit_gate
from merp.hdl.streams.run_span import run_span
from merp.models.machines.mac_array.params.design import ArrayDesign

TILES_AHEAD = 2
"""Tiles of output maps whose deltas are kept."""


@entity
def delta_intake(
    clk: Bit,
    rst: Bit,
    start: Bit,
    load: DeltaLoadConfig,
    sink: Stream,
    write: DeltaWrite,
    deltas: PacedArrivals,
    framing_error: Bit,
    design: ArrayDesign,
) -> Any:
    """Accept the deltas of a pass and write them into the memories of the lanes.

    load           in       registers, stable from start to complete
    sink           in       atoms in the order tile of lanes, run of rows, lane, row, column
    write          out      the atom, a cycle later
    deltas         out, in  arrival of rows of every lane; end of the computation of a tile of lanes
    framing_error  out      last arrived with an atom other than the last of the pass; until start

    A tile may enter once the tile two before it is computed. Latency: an atom is in its memory two
    cycles after it was taken. Throughput: one per cycle. Reset: no atom is taken.
    """
    arrived, complete, computed = deltas.arrived, deltas.complete, deltas.computed
    taking, take = flag(), flag()
    room = flag()  # another tile may enter
    lanes = count(design.pof)
    atom, row, inside = count(design.max_size), count(design.max_size), count(design.pool_window)
    lane, tile = count(design.pof), count(design.max_tiles)
    last_atom, last_inside, last_lane, last_row, last_tile = (flag() for _ in range(5))
    next_inside, next_lane, next_row, next_tile = (flag() for _ in range(4))
    enable = bits(design.pof, 1)
    run_base, row_base = count(2 * design.delta_words), count(2 * design.delta_words)
    half, final = flag(), flag()

    @always_comb
    def permission() -> None:
        take.next = sink.valid and taking and room
        sink.ready.next = taking and room

    @always_comb
    def carry() -> None:
        next_inside.next = take and last_atom
        next_lane.next = take and last_atom and last_inside
        next_row.next = take and last_atom and last_inside and last_lane
        next_tile.next = take and last_atom and last_inside and last_lane and last_row
        final.next = last_atom and last_inside and last_lane and last_row and last_tile

    @always(clk.posedge)
    def walk() -> None:
        if next_row:
            enable.next = 1
            run_base.next = row_base + load.atoms
            row_base.next = row_base + load.atoms
        elif next_lane:
            enable.next = enable << 1
            row_base.next = run_base
        elif next_inside:
            row_base.next = row_base + load.atoms
        if next_tile:
            half.next = not half
            run_base.next = 0
            row_base.next = 0
            if not half:
                run_base.next = design.delta_words
                row_base.next = design.delta_words
            if tile + 2 == load.tiles:
                lanes.next = load.last_lanes
        if start:
            enable.next = 1
            run_base.next = 0
            row_base.next = 0
            half.next = False
            lanes.next = load.lanes

    @always(clk.posedge)
    def tell() -> None:
        arrived.next = next_inside and last_lane
        if rst:
            arrived.next = False

    @always(clk.posedge)
    def put() -> None:
        write.lanes.next = 0
        if take:
            write.lanes.next = enable
            write.addr.next = row_base + atom
            write.data.next = sink.data
        if rst:
            write.lanes.next = 0

    loops = (
        loop_index(clk, start, step=take, size=load.atoms, index=atom, final=last_atom),
        loop_index(clk, start, step=next_inside, size=load.window, index=inside, final=last_inside),
        quota_index(clk, start, step=next_lane, quota=lanes, index=lane, final=last_lane),
        loop_index(clk, start, step=next_row, size=load.rows, index=row, final=last_row),
        loop_index(clk, start, step=next_tile, size=load.tiles, index=tile, final=last_tile),
    )
    span = run_span(
        clk, rst, start, taken=take, last=sink.last, final=final, taking=taking,
        complete=complete, framing_error=framing_error,
    )  # fmt: skip
    ahead = credit_gate(clk, start, taken=next_tile, freed=computed, some=room, places=TILES_AHEAD)
    return permission, carry, walk, tell, put, loops, span, ahead
