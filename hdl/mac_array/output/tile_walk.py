"""Walk over the tiles of a pass: bands of rows, tiles of maps, tiles of columns, phases."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.outputs import ArrayOutputConfig, Tile
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.output_registers import ATOM_NUMBER_BITS


@entity
def tile_walk(
    clk: Bit, start: Bit, advance: Bit, config: ArrayOutputConfig, tile: Tile, design: ArrayDesign
) -> Any:
    """Compute the part of the current tile that lies inside the map, and the place of its outputs.

    config   in   sizes, stable from start on
    advance  in   pulse: go to the next tile
    tile     out  the current tile

    If outputs are pooled, as many tiles of columns as the window is wide form a group. Their pooled
    columns fill one atom of each row. At the end of a row, a group may have fewer tiles. In DP with
    a stride, the tiles of all column phases form a group. Their columns are interleaved in as many
    atoms of each row. Each row phase repeats the maps and columns of a band. Latency: a tile is
    valid four cycles after start or advance, and stays until the next one. Reset: none, begin with
    start.
    """
    rows_left = count(design.max_size)  # rows of the map left, the rows of this band included
    columns_left = count(design.max_size)
    maps_left = count(design.max_maps)
    maps = count(design.max_tiles - 1)
    part = count(design.parts - 1)
    row_phase = count(design.max_stride - 1)
    band_base, tile_base, line_base = (bits(ATOM_NUMBER_BITS) for _ in range(3))
    block = bits(ATOM_NUMBER_BITS)  # atoms of the row in front of the group
    last_part, last_column, last_maps = flag(), flag(), flag()
    fills = flag()  # the group has a column of outputs
    filled = flag()  # the same flag, kept from the first tile of the group on
    next_column, last_band = flag(), flag()

    @always_comb
    def compare() -> None:
        last_column.next = columns_left < design.pox or (
            columns_left == design.pox and config.more_columns == 0
        )
        last_band.next = rows_left < design.poy or (
            rows_left == design.poy and config.more_rows == 0
        )
        last_maps.next = maps_left <= design.pof

    @always_comb
    def group() -> None:
        if config.last_phase == 0:
            next_column.next = True
            last_part.next = part == config.inside or last_column
        else:
            next_column.next = part == config.last_phase
            last_part.next = part == config.last_phase
        if part == 0:
            fills.next = columns_left > config.inside or config.more_columns != 0
        else:
            fills.next = filled

    @always(clk.posedge)
    def walk() -> None:
        line_base.next = band_base + tile_base
        filled.next = fills
        if advance:
            if last_part:
                part.next = 0
                block.next = block + config.last_phase + 1
            else:
                part.next = part + 1
            if next_column and not last_column:
                columns_left.next = columns_left - design.pox
            elif next_column:
                columns_left.next = config.columns
                block.next = 0
                if not last_maps:
                    maps_left.next = maps_left - design.pof
                    maps.next = maps + 1
                    tile_base.next = tile_base + config.tile_step
                else:
                    maps_left.next = config.maps
                    maps.next = 0
                    tile_base.next = 0
                    if row_phase != config.last_phase:
                        row_phase.next = row_phase + 1
                        band_base.next = band_base + config.phase_step
                    elif not last_band:
                        row_phase.next = 0
                        rows_left.next = rows_left - design.poy
                        band_base.next = band_base + config.band_step
        if start:
            rows_left.next = config.rows
            columns_left.next = config.columns
            maps_left.next = config.maps
            maps.next = 0
            part.next = 0
            row_phase.next = 0
            block.next = 0
            band_base.next = 0
            tile_base.next = 0

    @always(clk.posedge)
    def measure() -> None:
        tile.rows.next = design.poy
        if rows_left < design.poy:
            if row_phase < config.more_rows:
                tile.rows.next = rows_left + 1
            else:
                tile.rows.next = rows_left
        tile.columns.next = design.pox
        if columns_left < design.pox:
            if part < config.more_columns:
                tile.columns.next = columns_left + 1
            else:
                tile.columns.next = columns_left
        tile.atoms.next = config.last_phase + 1
        if last_column:
            tile.atoms.next = config.last_atoms
        tile.lanes.next = design.pof
        if last_maps:
            tile.lanes.next = maps_left
        tile.maps.next = maps
        tile.part.next = part
        tile.begins.next = part == 0
        tile.ends.next = last_part
        tile.number.next = line_base + block

    @always_comb
    def pool() -> None:
        tile.out_rows.next = tile.rows >> config.pool
        tile.empty.next = tile.rows == 0 or tile.columns == 0

    @always(clk.posedge)
    def judge() -> None:
        tile.leaves.next = fills and tile.out_rows != 0

    return compare, group, walk, measure, pool, judge
