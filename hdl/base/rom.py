"""Read-only memory with a table, which fits block RAM."""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def rom(clk: Bit, address: Word, word: Word, table: tuple[int, ...]) -> Any:
    """Read a word of a large table.

    address  in   place in the table
    word     out  the word, one cycle later

    The table has 2 to the power of the address's width words. They are the initial values of a
    memory that is never written, so that synthesis finds a block RAM. ``look_up`` is for small
    tables. Throughput: one per cycle. Reset: none.
    """
    if len(table) != 1 << len(address):
        raise ValueError(f"table must have {1 << len(address)} words, not {len(table)}")
    memory = [bits(len(word), value) for value in table]
    never = flag()

    @always(clk.posedge)
    def read() -> None:
        # An array that a process writes is a memory. Without it, its words would be constants.
        if never:
            memory[address].next = word
        word.next = memory[address]

    return read
