"""Place of a pixel in its pooling window, and of the window in the output buffer."""

from __future__ import annotations

from typing import Any

from myhdl import always, concat, intbv

from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.outputs import ArrayOutputConfig, Pixel
from merp.hdl.mac_array.ports.pooling import Pooling
from merp.models.machines.mac_array.params.design import ArrayDesign


@entity
def pool_position(
    clk: Bit, config: ArrayOutputConfig, pixel: Pixel, pooling: Pooling, design: ArrayDesign
) -> Any:
    """Compute the pooling control of a pixel of a tile.

    config   in   logarithm of the side of the pooling window; phases of a stride
    pixel    in   row and column in its tile, and number of the tile in its group
    pooling  out  the control, a cycle later

    Windows are aligned to the map, because tiles begin at multiples of the window. The windows of a
    tile fill a part of the columns of an atom; the number of the tile in its group selects the
    part. With several phases, the columns of one phase are spaced by the number of phases, and
    spread over as many atoms. Throughput: a pixel per cycle. Reset: none.
    """
    column_bits = len(pixel.column)
    # Wide enough for any of these numbers.
    size = column_bits + len(pixel.part) + len(pixel.row) + design.max_stride
    row_bits = len(pixel.row)
    stride_bits = design.max_stride.bit_length() - 1

    @always(clk.posedge)
    def find() -> None:
        row = intbv(0)[size:]
        column = intbv(0)[size:]
        most = intbv(0)[size:]
        in_row = intbv(0)[size:]
        in_column = intbv(0)[size:]
        code = intbv(0)[size:]
        ahead = intbv(0)[size:]
        wide = intbv(0)[size:]
        place = intbv(0)[size:]
        row[:] = pixel.row
        column[:] = pixel.column
        most[:] = config.inside
        in_row[:] = row & most
        in_column[:] = column & most
        code[:] = in_row << config.pool
        code[:] = code + in_column
        row[:] = row >> config.pool
        column[:] = column >> config.pool
        ahead[:] = concat(pixel.part, intbv(0)[column_bits:])
        ahead[:] = ahead >> config.pool
        wide[:] = pixel.column
        wide[:] = wide << config.phase_shift
        wide[:] = wide + pixel.part
        place[:] = concat(pixel.half, row[row_bits:])
        place[:] = place << stride_bits
        pooling.valid.next = pixel.valid
        pooling.opens.next = in_row == 0 and in_column == 0
        pooling.closes.next = in_row == most and in_column == most
        pooling.beside.next = column
        pooling.code.next = code
        if config.last_phase == 0:
            pooling.column.next = ahead + column
            pooling.row.next = place
        else:
            pooling.column.next = wide[column_bits:]
            pooling.row.next = place + (wide >> column_bits)

    return find
