"""Intake of maps: where each atom goes, and whether it may go there yet.

The RTL compiler's paper, section III.C.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.quota_index import quota_index
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.map_buffer.atom_spread import atom_spread
from merp.hdl.mac_array.ports.maps import MapWrite
from merp.hdl.mac_array.ports.registers import ColumnsConfig, LoadConfig, RowsConfig
from merp.hdl.streams.credit_gate import credit_gate
from merp.hdl.streams.run_span import run_span
from merp.models.machines.mac_array.params.design import Design

BANDS_AHEAD = 2
"""Bands of rows that may have come while none of their windows is computed."""


@entity
def map_intake(
    clk: Bit,
    rst: Bit,
    start: Bit,
    load: LoadConfig,
    rows: RowsConfig,
    columns: ColumnsConfig,
    sink: Stream,
    computed: Bit,
    write: MapWrite,
    arrived: Bit,
    complete: Bit,
    framing_error: Bit,
    design: Design,
) -> Any:
    """Accept the atoms of a pass and write them into the banks.

    Row r, column c of map i goes to bank (r div s mod poy, c div s mod pox), s the stride, at the
    first word of the row's block in its ring, plus those of the column's block, of the phases r mod
    s and c mod s, and i. Band b may enter when the windows of band b - 2 are computed.

    load, rows, columns  in  registers, stable from start to complete
    sink            in   atoms in the order band, map, row, column
    computed        in   pulse: the last slot of a band of windows was issued
    write           out  the elements of an atom of one phase of columns
    arrived         out  pulse: all rows that a band has of a map can be read
    complete        out  all atoms of the pass can be, until start
    framing_error   out  last came with another atom than the pass's last; until start

    Latency: an element is in its bank two cycles after it was taken. Throughput: an atom in s
    cycles, a phase of columns in each. Reset: no atom is taken.
    """
    poy = design.poy
    top = 2 * design.map_words
    stride_most = design.max_stride

    taking = flag()  # atoms are left
    room = flag()  # another band may come
    freed = flag()  # of one that is left
    present = flag()  # an atom may be taken
    quota = count(design.max_size)  # rows of this band
    phase, atom, row = count(stride_most), count(design.max_size), count(design.max_size)
    each_map, band = count(design.max_maps), count(design.max_size)
    last_phase, last_atom, last_row = flag(), flag(), flag()
    last_map, last_band = flag(), flag()
    next_atom, next_row, next_map, next_band = flag(), flag(), flag(), flag()
    final = flag()

    part = count(stride_most)  # the atom's place in its block of columns
    block_base, column_base = count(top), count(top)  # of that block; of the phase in it
    # Of this row, of the band's first, of the one behind: bank, phase, the block's word, the row's.
    bank, first_bank, other_bank = bits(poy, 1), bits(poy, 1), bits(poy, 1)
    row_phase, first_phase, other_phase = (count(stride_most) for _ in range(3))
    ring_base, first_ring, other_ring = (count(top) for _ in range(3))
    row_base, first_base, other_base = (count(top) for _ in range(3))
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

    @always_comb
    def follow() -> None:
        other_bank.next = bank
        other_ring.next = ring_base
        if row_phase + 1 != rows.stride:
            other_phase.next = row_phase + 1
            other_base.next = row_base + rows.phase_step
        else:
            other_phase.next = 0
            other_base.next = ring_base
            if not bank[poy - 1]:
                other_bank.next = bank << 1
            else:
                other_bank.next = 1
                if ring_base == rows.last:
                    other_ring.next = 0
                    other_base.next = 0
                else:
                    other_ring.next = ring_base + rows.step
                    other_base.next = ring_base + rows.step

    @always(clk.posedge)
    def go_down() -> None:
        if next_map and not last_map:
            bank.next = first_bank
            row_phase.next = first_phase
            ring_base.next = first_ring
            row_base.next = first_base
        elif next_row:
            bank.next = other_bank
            row_phase.next = other_phase
            ring_base.next = other_ring
            row_base.next = other_base
        if next_band:
            first_bank.next = other_bank
            first_phase.next = other_phase
            first_ring.next = other_ring
            first_base.next = other_base
        if start:
            bank.next = 1
            row_phase.next = 0
            ring_base.next = 0
            row_base.next = 0
            first_bank.next = 1
            first_phase.next = 0
            first_ring.next = 0
            first_base.next = 0

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
            write.rows.next = bank
            write.columns.next = enabled
            write.addr.next = row_base + column_base + each_map
            write.data.next = data
        if rst:
            write.rows.next = 0

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
    return permission, carry, follow, go_down, go_right, tell, put, loops, spread, span, ahead
