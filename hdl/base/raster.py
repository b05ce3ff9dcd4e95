"""A walk over the positions of images, columns first, of which only the borders matter."""

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
    """Tell where the position at hand is.

    start        in   go to the first position; columns, rows and images are stable from here
    advance      in   go to the next one
    last_column  out  it is the last one of its row
    last_row, last_image  out  it is in the last row of its image, in the last image

    Reset: none, begin with start.
    """
    columns_left = bits(len(columns))  # of this row, this column included
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
