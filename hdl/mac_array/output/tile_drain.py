"""Read the second rank, a pixel of all lanes per cycle, into a half of the output buffer."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.outputs import AtomGroup, Pixel, Tile
from merp.hdl.mac_array.ports.rounding import Readout
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.machines.mac_array.params.design import ArrayDesign


@entity
def tile_drain(
    clk: Bit,
    rst: Bit,
    start: Bit,
    readout: Readout,
    tile: Tile,
    freed: Bit,
    pixel: Pixel,
    group: AtomGroup,
    design: ArrayDesign,
) -> Any:
    """Read the pixels of a tile that lie inside the map, row by row.

    readout  in, out  reads the sums of a tile from the second rank
    tile     in       this tile
    freed    in       pulse: a half of the output buffer is free again
    pixel    out      the pixel that is read, in the cycle of place
    group    out      valid with drained of the last tile: the group, once its pixels have arrived

    The first tile of a group that has outputs waits for a free half. The first pixel is read in the
    cycle of copied, or once a half is free. A tile without pixels takes a cycle, too. Throughput: a
    pixel per cycle. Reset, and start: no tile, both halves free.
    """
    copied, place, drained = readout.copied, readout.place, readout.drained
    pending, some, go, done, taken, clear = flag(), flag(), flag(), flag(), flag(), flag()
    half = flag()
    row, column = count(design.poy - 1), count(design.pox - 1)
    last_row, last_column = flag(), flag()
    row_bits, column_bits = len(row), len(column)

    @always_comb
    def begin() -> None:
        clear.next = rst or start
        go.next = (copied or pending) and (
            some or not tile.leaves or not tile.begins or row != 0 or column != 0
        )

    @always_comb
    def compare() -> None:
        columns = intbv(0)[column_bits + 1 :]
        rows = intbv(0)[row_bits + 1 :]
        columns[:] = column
        columns[:] = columns + 1
        rows[:] = row
        rows[:] = rows + 1
        last_column.next = columns >= tile.columns or tile.empty
        last_row.next = rows >= tile.rows or tile.empty

    @always_comb
    def finish() -> None:
        done.next = go and last_row and last_column
        taken.next = go and tile.leaves and tile.begins and row == 0 and column == 0

    @always(clk.posedge)
    def walk() -> None:
        if copied:
            pending.next = True
        if go:
            if not last_column:
                column.next = column + 1
            else:
                column.next = 0
                if last_row:
                    row.next = 0
                else:
                    row.next = row + 1
        if done:
            pending.next = False
            if tile.ends and tile.leaves:
                half.next = not half
        if clear:
            pending.next = False
            half.next = False
            row.next = 0
            column.next = 0

    @always_comb
    def tell() -> None:
        place.next = concat(intbv(0)[1:], row, column)
        drained.next = done
        pixel.valid.next = go and not tile.empty
        pixel.row.next = row
        pixel.column.next = column
        pixel.part.next = tile.part
        pixel.half.next = half
        pixel.lanes.next = tile.lanes
        group.valid.next = done and tile.ends and tile.leaves
        group.rows.next = tile.out_rows
        group.atoms.next = tile.atoms
        group.lanes.next = tile.lanes
        group.number.next = tile.number

    halves = credit_gate(clk, clear, taken=taken, freed=freed, some=some, places=2)
    return begin, compare, finish, walk, tell, halves
