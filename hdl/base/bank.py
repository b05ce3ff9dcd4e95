"""One of the two-port memories over which maps are spread so that a window is read at once.

CNN-MERP section V.C and figure 9; the RTL compiler's paper, section III.F.
"""

from __future__ import annotations

from typing import Any

from myhdl import Signal, always, intbv

from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def bank(
    clk: Bit,
    write_row: Bit,
    write_column: Bit,
    write_addr: Word,
    write_data: Word,
    read: Bit,
    row_on: Bit,
    column_on: Bit,
    row_next: Bit,
    column_next: Bit,
    addr_00: Word,
    addr_01: Word,
    addr_10: Word,
    addr_11: Word,
    q: Word,
    words: int,
    width: int,
) -> Any:
    """Store elements of one place (row modulo rows of banks, column modulo columns of banks).

    Of each window it gives one element, which lies in one of two blocks of rows and of columns.

    A tap in the padding clears the output register instead of reading: the memory's own
    synchronous reset masks it, at no cost in logic.

    write_row, write_column  in  this bank's bits of the row and column enables
    write_addr, write_data   in  an element and its place
    read                     in  a window is read
    row_on, column_on        in  this bank's tap lies inside the map
    row_next, column_next    in  which of the four addresses holds this bank's tap
    addr_00, addr_01         in  in the block of rows: block of columns, next block
    addr_10, addr_11         in  the same in the next block of rows
    q                        out  the tap, or +0

    Latency: q one cycle after read. Throughput: a write and a read per cycle. Reset: none.
    """
    memory = [Signal(intbv(0)[width:]) for _ in range(words)]
    reach = 1 << len(addr_00)

    @always(clk.posedge)
    def access() -> None:
        if write_row and write_column:
            memory[write_addr].next = write_data
        if read:
            if row_on and column_on:
                address = intbv(0, min=0, max=reach)
                if row_next:
                    if column_next:
                        address[:] = addr_11
                    else:
                        address[:] = addr_10
                elif column_next:
                    address[:] = addr_01
                else:
                    address[:] = addr_00
                q.next = memory[address]
            else:
                q.next = 0

    return access
