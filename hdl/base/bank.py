"""One of the two-port memories that store the maps, so that a whole window is read in one cycle.

Source: CNN-MERP, section V.C and figure 9; the RTL compiler's paper, section III.F.
"""

from __future__ import annotations

from typing import Any

from myhdl import Signal, always, intbv

from merp.hdl.conversion.entity import Bit, Word, entity


class ElementWrite:
    """Write port of a bank: its bits of the row and column enables, an element and its address."""

    def __init__(self, row: Bit, column: Bit, addr: Word, data: Word) -> None:
        self.row = row
        self.column = column
        self.addr = addr
        self.data = data


class ElementRead:
    """The part of a window read that concerns one bank."""

    def __init__(self, window: Any, row: int, column: int) -> None:
        """Select the signals of one bank.

        Args:
            window: the read of all banks.
            row: row of this bank.
            column: column of this bank.
        """
        self.enable = window.enable  # a window is read
        self.row_on = window.rows_on(row)  # the row of the tap of this bank lies inside the map
        self.column_on = window.columns_on(column)  # the column of the tap lies inside the map
        self.row_next = window.rows_next(row)  # the tap lies in the next block of rows
        self.column_next = window.columns_next(column)  # the tap lies in the next block of columns
        self.addr_00 = window.addr_00  # address in the current block of rows and columns
        self.addr_01 = window.addr_01  # address in the next block of columns
        self.addr_10 = window.addr_10  # address in the next block of rows
        self.addr_11 = window.addr_11  # address in the next block of both


@entity
def bank(
    clk: Bit,
    write: ElementWrite,
    read: ElementRead,
    q: Word,
    words: int,
    width: int,
) -> Any:
    """Store the elements of one place (row modulo rows of banks, column modulo columns of banks).

    The bank supplies one element of each window. The element lies in one of two blocks of rows and
    of columns.

    A tap in the padding clears the output register instead of reading. The synchronous reset of the
    memory does this masking, so it costs no logic.

    write  in   an element and its place
    read   in   position of the tap of this bank
    q      out  the tap, or +0

    Latency: q is valid one cycle after read. Throughput: a write and a read per cycle. Reset: none.
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
