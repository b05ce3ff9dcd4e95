"""Input of maps in a kernel update: each map of a group goes to the banks of its region.

Source: the RTL compiler's paper, section III.F.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.quota_index import quota_index
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.map_buffer.region_spread import region_spread
from merp.hdl.mac_array.ports.arrivals import Arrivals
from merp.hdl.mac_array.ports.maps import MapWrite
from merp.hdl.mac_array.ports.registers import RegionLoadConfig
from merp.hdl.streams.run_span import run_span
from merp.models.machines.mac_array.params.design import ArrayDesign


@entity
def region_intake(
    clk: Bit,
    rst: Bit,
    start: Bit,
    load: RegionLoadConfig,
    sink: Stream,
    write: MapWrite,
    maps: Arrivals,
    framing_error: Bit,
    design: ArrayDesign,
) -> Any:
    """Accept the atoms of a KU pass and write them into the banks, where they stay.

    Map g of a group goes to region g. Its row r, column c goes to row r mod side and column c mod
    width of the banks of the region. Regions are ordered row by row.

    load           in   registers, stable from start to complete
    sink           in   atoms in the order group of maps, row, map, column
    write          out  a part of an atom, as wide as a region
    maps           out  arrival of rows of all maps of a group
    framing_error  out  last arrived with an atom other than the last of the pass; until start

    Latency: an element is in its bank two cycles after it was taken. Throughput: an atom takes as
    many cycles as it has parts. Reset: no atom is taken.
    """
    poy = design.poy
    top = 2 * design.map_words
    arrived, complete = maps.arrived, maps.complete
    taking, present = flag(), flag()
    quota = count(design.pixels)  # maps of this group
    part, beside, side_row = count(design.pox), count(design.pox), count(poy)
    atom, row = count(design.max_size), count(design.max_size)
    each_map, group = count(design.pixels), count(design.max_maps)
    last_part, last_across, last_side = flag(), flag(), flag()
    last_atom, last_map, last_row, last_group = (flag() for _ in range(4))
    next_atom, next_map, next_row, next_group = (flag() for _ in range(4))
    restart, restart_side, final = flag(), flag(), flag()
    # For the first region and for this one: row of banks; block of rows; words of this row.
    first_bank, bank = bits(poy, 1), bits(poy, 1)
    row_base, column = count(top), count(top)
    data, enabled = bits(len(sink.data)), bits(design.pox)

    @always_comb
    def permission() -> None:
        present.next = sink.valid and taking
        sink.ready.next = last_part and taking

    @always_comb
    def carry() -> None:
        next_atom.next = present and last_part
        next_map.next = present and last_part and last_atom
        next_row.next = present and last_part and last_atom and last_map
        next_group.next = present and last_part and last_atom and last_map and last_row
        final.next = last_atom and last_map and last_row and last_group

    @always_comb
    def begin() -> None:
        restart.next = start or next_row
        restart_side.next = start or next_group

    @always(clk.posedge)
    def walk() -> None:
        if next_map:
            column.next = 0
        elif present:
            column.next = column + 1
        if next_row:
            if last_side or last_row:
                first_bank.next = 1
                bank.next = 1
                row_base.next = row_base + load.row_words
            else:
                first_bank.next = first_bank << 1
                bank.next = first_bank << 1
        elif next_map and last_across:
            bank.next = bank << load.side
        if next_group and group + 2 == load.groups:
            quota.next = load.last_maps
        if start:
            column.next = 0
            first_bank.next = 1
            bank.next = 1
            row_base.next = 0
            quota.next = load.maps

    @always(clk.posedge)
    def tell() -> None:
        arrived.next = next_row
        if rst:
            arrived.next = False

    @always(clk.posedge)
    def put() -> None:
        write.rows.next = 0
        if present:
            write.rows.next = bank
            write.columns.next = enabled
            write.addr.next = row_base + column
            write.data.next = data
        if rst:
            write.rows.next = 0

    loops = (
        loop_index(clk, start, step=present, size=load.parts, index=part, final=last_part),
        loop_index(clk, start, step=next_atom, size=load.atoms, index=atom, final=last_atom),
        loop_index(clk, restart, step=next_map, size=load.across, index=beside, final=last_across),
        quota_index(clk, start, step=next_map, quota=quota, index=each_map, final=last_map),
        loop_index(
            clk, restart_side, step=next_row, size=load.side, index=side_row, final=last_side
        ),
        loop_index(clk, start, step=next_row, size=load.rows, index=row, final=last_row),
        loop_index(clk, start, step=next_group, size=load.groups, index=group, final=last_group),
    )
    spread = region_spread(
        atom=sink.data, level=load.level, parts=load.parts, part=part, beside=beside, data=data,
        columns=enabled, design=design,
    )  # fmt: skip
    span = run_span(
        clk, rst, start, taken=next_atom, last=sink.last, final=final, taking=taking,
        complete=complete, framing_error=framing_error,
    )  # fmt: skip
    return permission, carry, begin, walk, tell, put, loops, spread, span
