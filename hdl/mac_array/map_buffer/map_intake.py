"""Input of maps: computes the bank and address of each atom, and delays atoms without room.

Source: the RTL compiler's paper, section III.C.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.quota_index import quota_index
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.map_buffer.atom_spread import atom_spread
from merp.hdl.mac_array.ports.arrivals import PacedArrivals
from merp.hdl.mac_array.ports.maps import MapWrite
from merp.hdl.mac_array.ports.registers import LayerIntakeConfig, RowsConfig
from merp.hdl.streams.credit_gate import credit_gate
from merp.hdl.streams.run_span import run_span
from merp.models.machines.mac_array.params.design import ArrayDesign

BANDS_AHEAD = 2
"""Bands of rows that may have arrived while none of their windows is computed."""


class RowPlace:
    """Destination of a row of a map."""

    def __init__(self, design: ArrayDesign) -> None:
        top = 2 * design.map_words
        self.bank = bits(design.poy, 1)  # enable of its row of banks
        self.phase = count(design.max_stride)  # row phase: row modulo stride
        self.ring = count(top)  # first word of its block of rows in the ring
        self.base = count(top)  # first word of the row: of its phase in the block


@block
def _row_walk(
    clk: Bit,
    start: Bit,
    rows: RowsConfig,
    next_row: Bit,
    next_map: Bit,
    last_map: Bit,
    next_band: Bit,
    place: RowPlace,
    design: ArrayDesign,
) -> Any:
    """Go from row to row, and for the next map of a band back to the first row of the band."""
    poy = design.poy
    # first row of the band; row behind the current one
    first, further = RowPlace(design), RowPlace(design)

    @always_comb
    def follow() -> None:
        further.bank.next = place.bank
        further.ring.next = place.ring
        if place.phase + 1 != rows.stride:
            further.phase.next = place.phase + 1
            further.base.next = place.base + rows.phase_step
        else:
            further.phase.next = 0
            further.base.next = place.ring
            if not place.bank[poy - 1]:
                further.bank.next = place.bank << 1
            else:
                further.bank.next = 1
                if place.ring == rows.last:
                    further.ring.next = 0
                    further.base.next = 0
                else:
                    further.ring.next = place.ring + rows.step
                    further.base.next = place.ring + rows.step

    @always(clk.posedge)
    def go() -> None:
        if next_map and not last_map:
            place.bank.next = first.bank
            place.phase.next = first.phase
            place.ring.next = first.ring
            place.base.next = first.base
        elif next_row:
            place.bank.next = further.bank
            place.phase.next = further.phase
            place.ring.next = further.ring
            place.base.next = further.base
        if next_band:
            first.bank.next = further.bank
            first.phase.next = further.phase
            first.ring.next = further.ring
            first.base.next = further.base
        if start:
            place.bank.next = 1
            place.phase.next = 0
            place.ring.next = 0
            place.base.next = 0
            first.bank.next = 1
            first.phase.next = 0
            first.ring.next = 0
            first.base.next = 0

    return follow, go


@entity
def map_intake(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: LayerIntakeConfig,
    sink: Stream,
    write: MapWrite,
    maps: PacedArrivals,
    framing_error: Bit,
    design: ArrayDesign,
) -> Any:
    """Accept the atoms of a pass and write them into the banks.

    With s as the stride, row r, column c of map i goes to bank ``(r div s mod poy, c div s mod
    pox)``. The address is the first word of the block of rows in its ring plus several offsets. The
    offsets belong to the block of columns, the phases r mod s and c mod s, and i. Band b may enter
    once the windows of band b - 2 are computed.

    config         in       registers, stable from start to complete
    sink           in       atoms in the order band, map, row, column
    write          out      the elements of an atom that belong to one column phase
    maps           out, in  arrival of all rows of a map in a band; end of the computation of a band
                            of windows
    framing_error  out      last arrived with an atom other than the last of the pass; until start

    Latency: an element is in its bank two cycles after it was taken. Throughput: an atom in s
    cycles, one column phase in each. Reset: no atom is taken.
    """
    load, rows, columns = config.load, config.rows, config.columns
    arrived, complete, computed = maps.arrived, maps.complete, maps.computed
    top = 2 * design.map_words
    stride_most = design.max_stride

    taking = flag()  # atoms are left
    room = flag()  # another band may enter
    freed = flag()  # the room of a band was freed
    present = flag()  # an atom may be taken
    quota = count(design.max_size)  # rows of this band
    phase, atom, row = count(stride_most), count(design.max_size), count(design.max_size)
    each_map, band = count(design.max_maps), count(design.max_size)
    last_phase, last_atom, last_row = flag(), flag(), flag()
    last_map, last_band = flag(), flag()
    next_atom, next_row, next_map, next_band = flag(), flag(), flag(), flag()
    final = flag()

    part = count(stride_most)  # place of the atom in its block of columns
    block_base, column_base = count(top), count(top)  # first word of this block; of the phase in it
    place = RowPlace(design)
    data, enabled = bits(len(sink.data)), bits(design.pox)

    @always_comb
    def permission() -> None:
        freed.next = computed and taking
        present.next = sink.valid and taking and room
        sink.ready.next = last_phase and taking and room

    @always_comb
    def carry() -> None:
        next_atom.next = present and last_phase
        next_row.next = present and last_phase and last_atom
        next_map.next = present and last_phase and last_atom and last_row
        next_band.next = present and last_phase and last_atom and last_row and last_map
        final.next = last_atom and last_row and last_map and last_band

    @always(clk.posedge)
    def go_right() -> None:
        if next_row or start:
            part.next = 0
            block_base.next = 0
            column_base.next = 0
        elif next_atom:
            if part + 1 != columns.stride:
                part.next = part + 1
                column_base.next = block_base
            else:
                part.next = 0
                block_base.next = block_base + columns.step
                column_base.next = block_base + columns.step
        elif present:
            column_base.next = column_base + columns.phase_step

    @always(clk.posedge)
    def tell() -> None:
        arrived.next = next_map
        if next_band:
            quota.next = load.further_rows
            if band + 2 == load.bands:
                quota.next = load.last_rows
        if start:
            quota.next = load.first_rows
        if rst:
            arrived.next = False

    @always(clk.posedge)
    def put() -> None:
        write.rows.next = 0
        if present:
            write.rows.next = place.bank
            write.columns.next = enabled
            write.addr.next = place.base + column_base + each_map
            write.data.next = data
        if rst:
            write.rows.next = 0

    down = _row_walk(
        clk, start, rows=rows, next_row=next_row, next_map=next_map, last_map=last_map,
        next_band=next_band, place=place, design=design,
    )  # fmt: skip
    loops = (
        loop_index(clk, start, step=present, size=rows.stride, index=phase, final=last_phase),
        loop_index(clk, start, step=next_atom, size=load.atoms, index=atom, final=last_atom),
        quota_index(clk, start, step=next_row, quota=quota, index=row, final=last_row),
        loop_index(clk, start, step=next_map, size=load.maps, index=each_map, final=last_map),
        loop_index(clk, start, step=next_band, size=load.bands, index=band, final=last_band),
    )
    spread = atom_spread(
        atom=sink.data, stride=rows.stride, phase=phase, part=part, data=data, columns=enabled,
        design=design,
    )  # fmt: skip
    span = run_span(
        clk, rst, start, taken=next_atom, last=sink.last, final=final, taking=taking,
        complete=complete, framing_error=framing_error,
    )  # fmt: skip
    ahead = credit_gate(clk, start, taken=next_band, freed=freed, some=room, places=BANDS_AHEAD)
    return permission, carry, go_right, tell, put, down, loops, spread, span, ahead
