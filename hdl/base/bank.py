"""One of the two-port memories over which maps are spread so that a window is read at once.

CNN-MERP section V.C and figure 9; the RTL compiler's paper, section III.F.
"""

from __future__ import annotations

from typing import Any

from myhdl import Signal, always, intbv

from merp.hdl.conversion.entity import Bit, Word, entity


class ElementWrite:
    """Write of a bank: its bits of the row and column enables; an element and its address."""

    def __init__(self, row: Bit, column: Bit, addr: Word, data: Word) -> None:
        self.row = row
        self.column = column
        self.addr = addr
        self.data = data


class ElementRead:
    """A bank's part of a window's read."""

    def __init__(self, window: Any, row: int, column: int) -> None:
        """``window``: the read of all banks. row, column: of this one."""
        self.enable = window.enable  # a window is read
        self.row_on = window.rows_on(row)  # this bank's tap lies inside the map: its row does
        self.column_on = window.columns_on(column)  # its column does
        self.row_next = window.rows_next(row)  # it lies in the next block of rows
        self.column_next = window.columns_next(column)  # it lies in the next block of columns
        self.addr_00 = window.addr_00  # in the block of rows and of columns
        self.addr_01 = window.addr_01  # in the next block of columns
        self.addr_10 = window.addr_10  # in the next block of rows
        self.addr_11 = window.addr_11  # in the next block of both


@entity
def bank(
    clk: Bit,
    write: ElementWrite,
    read: ElementRead,
    q: Word,
    words: int,
    width: int,
) -> Any:
    """Store elements of one place (row modulo rows of banks, column modulo columns of banks).

    Of each window it gives one element, which lies in one of two blocks of rows and of columns.

    A tap in the padding clears the output register instead of reading: the memory's own
    synchronous reset masks it, at no cost in logic.

    write  in   an element and its place
    read   in   where this bank's tap lies
    q      out  the tap, or +0

    Latency: q one cycle after read. Throughput: a write and a read per cycle. Reset: none.
    """
    memory = [Signal(intbv(0)[width:]) for _ in range(words)]
    reach = 1 << len(read.addr_00)

    @always(clk.posedge)
    def access() -> None:
        if write.row and write.column:
            memory[write.addr].next = write.data
        if read.enable:
            if read.row_on and read.column_on:
                address = intbv(0, min=0, max=reach)
                if read.row_next:
                    if read.column_next:
                        address[:] = read.addr_11
                    else:
                        address[:] = read.addr_10
                elif read.column_next:
                    address[:] = read.addr_01
                else:
                    address[:] = read.addr_00
                q.next = memory[address]
            else:
                q.next = 0

    return access
