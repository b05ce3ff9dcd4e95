"""Location restore and window register: strategy 2, one window is held for all output maps.

Source: CNN-MERP, sections IV.C and V.C, figures 4 and 9.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always

from merp.hdl.base.rotator import rotator
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def location_restore(
    clk: Bit, row_shift: Word, column_shift: Word, taps: Word, held: Word, k: int, width: int
) -> Any:
    """Convert bank order to window order.

    The banks keep their outputs until the next read. Therefore the window is stable while the CUs
    process the output maps, and the register needs no enable.

    Bank (r, c) holds tap (r - row_shift mod k, c - column_shift mod k).

    row_shift, column_shift  in   bank of the first row and column of the window
    taps  in   k*k words from the banks, bank (0, 0) lowest
    held  out  the window, tap (0, 0) lowest, row by row

    Latency: one cycle. Throughput: a window per cycle. Reset: none.
    """
    upright = bits(k * k * width)
    row_bits = k * width
    restored = [bits(row_bits) for _ in range(k)]
    rotate_rows = rotator(x=taps, shift=row_shift, y=upright, places=k, width=row_bits)
    rotate_columns = [
        rotator(
            x=upright((r + 1) * row_bits, r * row_bits),
            shift=column_shift,
            y=restored[r],
            places=k,
            width=width,
        )
        for r in range(k)
    ]
    in_order = ConcatSignal(*reversed(restored)) if k > 1 else restored[0]

    @always(clk.posedge)
    def hold() -> None:
        held.next = in_order

    return rotate_rows, rotate_columns, hold
