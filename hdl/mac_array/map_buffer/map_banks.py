"""Map banks: one memory per pixel of the array; writes take an atom, reads return an element each.

Source: the RTL compiler's paper, sections III.C and III.F.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.base.bank import ElementRead, ElementWrite, bank
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.ports.maps import MapRead, MapWrite
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign


@entity
def map_banks(clk: Bit, write: MapWrite, read: MapRead, elements: Word, design: ArrayDesign) -> Any:
    """Write the banks of a row and read all of them.

    write     in   elements of an atom, which go to the same address of as many banks
    read      in   the read of a slot
    elements  out  elements of bank (0, 0), lowest, then (0, 1), ...; 0 for banks that are not
                   enabled

    Latency: elements one cycle after read, and until the next read. Throughput: a write and a read
    per cycle. Reset: none.
    """
    pox, poy = design.pox, design.poy
    q = [bits(WORD_BITS) for _ in range(design.pixels)]
    banks = [
        bank(
            clk,
            write=ElementWrite(
                write.rows(row),
                write.columns(column),
                write.addr,
                write.data((column + 1) * WORD_BITS, column * WORD_BITS),
            ),
            read=ElementRead(read, row, column),
            q=q[row * pox + column],
            words=design.map_words,
            width=WORD_BITS,
        )
        for row in range(poy)
        for column in range(pox)
    ]
    side_by_side = ConcatSignal(*reversed(q))

    @always_comb
    def collect() -> None:
        elements.next = side_by_side

    return banks, collect
