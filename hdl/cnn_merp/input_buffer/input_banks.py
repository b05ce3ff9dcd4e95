"""The k x k banks in parallel: one element in, one window out.

Source: CNN-MERP, sections IV.E (strategy 4) and V.C.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.base.bank import ElementRead, ElementWrite, bank
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.ports.maps import BankRead, BankWrite
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def input_banks(
    clk: Bit, write: BankWrite, read: BankRead, taps: Word, design: EngineDesign
) -> Any:
    """Write one bank and read all of them.

    taps  out  k*k words, bank (0, 0) lowest, then (0, 1), ...: window taps, still rotated

    Latency: taps one cycle after read. Throughput: a write and a window per cycle. Reset: none.
    """
    k = design.k
    words = design.d * design.row_words
    width = design.fmt.width
    q = [bits(width) for _ in range(k * k)]
    banks = [
        bank(
            clk,
            write=ElementWrite(
                write.rows(row),
                write.columns(column),
                write.addr,
                write.data,
            ),
            read=ElementRead(read, row, column),
            q=q[row * k + column],
            words=words,
            width=width,
        )
        for row in range(k)
        for column in range(k)
    ]
    side_by_side = ConcatSignal(*reversed(q)) if k > 1 else q[0]

    @always_comb
    def collect() -> None:
        taps.next = side_by_side

    return banks, collect
