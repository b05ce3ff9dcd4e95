"""Data router: rotates the elements of the banks to the MACs that use them.

Source: the RTL compiler's paper, section III.C, figure 4.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.map_buffer.region_rotator import region_rotator
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign


@entity
def data_router(
    clk: Bit,
    elements: Word,
    row_shift: Word,
    column_shift: Word,
    row_level: Word,
    column_level: Word,
    pixels: Word,
    design: ArrayDesign,
) -> Any:
    """Give MAC (a, b) of each region the element of bank (a + row_shift, b + column_shift).

    A region has 2^row_level rows and 2^column_level columns, in which the sums wrap. In FP and DP
    the whole array is one region.

    elements      in   elements of the banks, bank (0, 0) lowest, row by row
    row_shift     in   row of banks for the first row of MACs
    column_shift  in   column of banks for the first column of MACs
    row_level     in   logarithm of the rows of a region
    column_level  in   logarithm of the columns of a region
    pixels        out  pixels of the MACs, MAC (0, 0) lowest, row by row

    Latency: one cycle. Throughput: a slot per cycle. Reset: none.
    """
    pox, poy = design.pox, design.poy
    row_bits = pox * WORD_BITS
    upright = bits(poy * row_bits)
    turned = [bits(row_bits) for _ in range(poy)]
    rotate_rows = region_rotator(
        x=elements, shift=row_shift, level=row_level, y=upright, places=poy, width=row_bits
    )
    rotate_columns = [
        region_rotator(
            x=upright((a + 1) * row_bits, a * row_bits),
            shift=column_shift,
            level=column_level,
            y=turned[a],
            places=pox,
            width=WORD_BITS,
        )
        for a in range(poy)
    ]
    in_order = ConcatSignal(*reversed(turned))

    @always(clk.posedge)
    def hold() -> None:
        pixels.next = in_order

    return rotate_rows, rotate_columns, hold
