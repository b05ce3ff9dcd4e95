"""The map banks and the data router: writes take an atom, reads return the pixels of a slot."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.map_buffer.data_router import data_router
from merp.hdl.mac_array.map_buffer.map_banks import map_banks
from merp.hdl.mac_array.ports.maps import MapRead, MapWrite
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign


@entity
def map_buffer(
    clk: Bit,
    write: MapWrite,
    read: MapRead,
    row_level: Word,
    column_level: Word,
    pixels: Word,
    design: ArrayDesign,
) -> Any:
    """Keep rows of maps; give every MAC its pixel.

    write   in   elements of an atom
    read    in   the read of a slot
    row_level, column_level  in   logarithm of the rows and columns of a region, stable in a pass
    pixels  out  pixels of the MACs, MAC (0, 0) lowest, row by row; 0 outside the map

    Latency: pixels two cycles after read, as for the weights from the kernel buffer. Throughput: a
    write and a slot per cycle. Reading an element that is being written returns the old one. Reset:
    none.
    """
    elements = bits(design.pixels * WORD_BITS)
    row_shift, column_shift = bits(len(read.row_shift)), bits(len(read.column_shift))
    return (
        map_banks(clk, write=write, read=read, elements=elements, design=design),
        delay(clk, d=read.row_shift, q=row_shift, cycles=1),
        delay(clk, d=read.column_shift, q=column_shift, cycles=1),
        data_router(
            clk,
            elements=elements,
            row_shift=row_shift,
            column_shift=column_shift,
            row_level=row_level,
            column_level=column_level,
            pixels=pixels,
            design=design,
        ),
    )
