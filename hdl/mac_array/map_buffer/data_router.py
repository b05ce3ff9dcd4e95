"""Data router: the elements of the banks, turned to the MACs that want them.

The RTL compiler's paper, section III.C, figure 4.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always

from merp.hdl.base.rotator import rotator
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.params.mac_array.design import WORD_BITS, Design


@entity
def data_router(
    clk: Bit, elements: Word, row_shift: Word, column_shift: Word, pixels: Word, design: Design
) -> Any:
    """Give MAC (a, b) what bank (a + row_shift mod poy, b + column_shift mod pox) holds.

    elements      in   of the banks, bank (0, 0) lowest, row by row
    row_shift     in   row of banks that the first row of MACs takes
    column_shift  in   column of banks that the first column takes
    pixels        out  of the MACs, MAC (0, 0) lowest, row by row

    Latency: one cycle. Throughput: a slot per cycle. Reset: none.
    """
    pox, poy = design.pox, design.poy
    row_bits = pox * WORD_BITS
    upright = bits(poy * row_bits)
    turned = [bits(row_bits) for _ in range(poy)]
    rotate_rows = rotator(x=elements, shift=row_shift, y=upright, places=poy, width=row_bits)
    rotate_columns = [
        rotator(
            x=upright((a + 1) * row_bits, a * row_bits),
            shift=column_shift,
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
