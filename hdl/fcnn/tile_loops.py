"""Loops of a matrix product over the tiles of C."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit
from merp.models.machines.fcnn.params.product_design import ProductDesign
from merp.models.machines.fcnn.params.product_registers import PRODUCT


class ProductConfig(RegisterBundle):
    """Run-time registers of a matrix product, from the table ``PRODUCT``."""

    def __init__(self, design: ProductDesign) -> None:
        super().__init__(PRODUCT, design)


class TilePlace:
    """The present step of a tile.

    opens, closes  the step is the first one of its tile, the last one
    last_row       the tile is in the last row of tiles
    last_column    the tile is in the last column of tiles
    """

    def __init__(self) -> None:
        self.opens, self.closes = flag(), flag()
        self.last_row, self.last_column = flag(), flag()


@block
def tile_loops(
    clk: Bit, start: Bit, step: Bit, next_tile: Bit, config: ProductConfig, place: TilePlace
) -> Any:
    """Walk over columns of tiles, tiles of a column, and steps of a tile; the last is innermost.

    step       in   the next step of the tile; the first one follows the last one
    next_tile  in   the next tile

    Reset: none, begin with start.
    """
    inner, row, column = (
        bits(len(size)) for size in (config.inner, config.row_tiles, config.column_tiles)
    )
    next_column = flag()

    @always_comb
    def tell() -> None:
        place.opens.next = inner == 0

    @always_comb
    def carry() -> None:
        next_column.next = next_tile and place.last_row

    return (
        tell,
        carry,
        loop_index(
            clk, start, step=step, size=config.inner, index=inner, final=place.closes
        ),
        loop_index(
            clk, start, step=next_tile, size=config.row_tiles, index=row, final=place.last_row
        ),
        loop_index(
            clk, start, step=next_column, size=config.column_tiles, index=column,
            final=place.last_column,
        ),
    )  # fmt: skip
