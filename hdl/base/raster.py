"""Walk over the positions of images, columns first, that only tracks the borders."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word


class LatePlaces:
    """Positions behind the last ones of a map, in which no element comes.

    The walk includes ``columns`` and ``rows`` of them. The flags belong to the current position.
    """

    def __init__(
        self, columns: Word, rows: Word, edge_column: Bit, edge_row: Bit, here: Bit
    ) -> None:
        self.columns = columns
        self.rows = rows
        self.edge_column = edge_column  # it is in the last column of the map, or behind it
        self.edge_row = edge_row  # it is in the last row of the map, or behind it
        self.here = here  # it lies behind the last row or column of the map
        self.next = flag()  # the next position of the image does


@block
def raster(
    clk: Bit,
    start: Bit,
    advance: Bit,
    columns: Word,
    rows: Word,
    images: Word,
    last_column: Bit,
    last_row: Bit,
    last_image: Bit,
    late: LatePlaces | None = None,
) -> Any:
    """Track whether the current position is the last one of its row, image or batch.

    start                 in   go to the first position; columns, rows and images are stable from
                               here on
    advance               in   go to the next position
    last_column           out  the position is the last one of its row
    last_row, last_image  out  the position is in the last row, in the last image
    late                  out  (if there are positions behind a map) where they are

    Reset: none, begin with start.
    """
    columns_left = bits(len(columns))  # columns left in this row, this column included
    rows_left = bits(len(rows))
    images_left = bits(len(images))

    @always_comb
    def tell() -> None:
        last_column.next = columns_left == 1
        last_row.next = rows_left == 1
        last_image.next = images_left == 1

    @always(clk.posedge)
    def walk() -> None:
        if advance:
            if columns_left != 1:
                columns_left.next = columns_left - 1
            else:
                columns_left.next = columns
                if rows_left != 1:
                    rows_left.next = rows_left - 1
                else:
                    rows_left.next = rows
                    if images_left != 1:
                        images_left.next = images_left - 1
        if start:
            columns_left.next = columns
            rows_left.next = rows
            images_left.next = images

    if late is None:
        return tell, walk

    late_columns, late_rows = late.columns, late.rows
    edge_column, edge_row = late.edge_column, late.edge_row
    behind_column, behind_row, here, following = flag(), flag(), late.here, late.next

    @always_comb
    def compare() -> None:
        edge_column.next = columns_left <= late_columns + 1
        edge_row.next = rows_left <= late_rows + 1
        behind_column.next = columns_left <= late_columns
        behind_row.next = rows_left <= late_rows

    @always_comb
    def look() -> None:
        here.next = behind_column or behind_row
        if columns_left != 1:
            following.next = edge_column or behind_row
        else:
            following.next = edge_row and rows_left != 1

    return tell, walk, compare, look
