"""Walk over the positions of images, columns first, that only tracks the borders."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word


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
) -> Any:
    """Track whether the current position is the last one of its row, image or batch.

    start                 in   go to the first position; columns, rows and images are stable from
                               here on
    advance               in   go to the next position
    last_column           out  the position is the last one of its row
    last_row, last_image  out  the position is in the last row, in the last image

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

    return tell, walk
