"""Words of deltas in two halves: one is read while the other one is written."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def delta_memory(
    clk: Bit,
    rst: Bit,
    start: Bit,
    taken: Bit,
    place: Word,
    half_taken: Bit,
    word: Word,
    read_place: Word,
    half_read: Bit,
    deltas: Word,
    opening: Bit,
    half_words: int,
) -> Any:
    """Keep words until their half is written again.

    taken, place  in   the word of this place in the half comes two cycles later
    half_taken    in   it is the half's last
    word          in   two cycles after taken
    read_place    in   a place in the half that is read
    half_read     in   the half is read for the last time
    deltas        out  the word, a cycle later
    opening       out  the half that is read is the run's first

    A word may be read three cycles after taken. Reset: nothing is written; begin with start.
    """
    all_words = 2 * half_words
    write_half, read_half = flag(), flag()
    stored, write = flag(), flag()
    stored_addr, write_addr, read_addr = (count(all_words - 1) for _ in range(3))
    memory = [bits(len(word)) for _ in range(all_words)]

    @always(clk.posedge)
    def store() -> None:
        address = intbv(0, min=0, max=2 * all_words)
        address[:] = place
        if write_half:
            address[:] = address + half_words
        stored_addr.next = address
        stored.next = taken and not rst
        write_addr.next = stored_addr
        write.next = stored
        if half_taken:
            write_half.next = not write_half
        if start:
            write_half.next = False

    @always(clk.posedge)
    def alternate() -> None:
        if half_read:
            read_half.next = not read_half
            opening.next = False
        if start:
            read_half.next = False
            opening.next = True

    @always_comb
    def choose() -> None:
        address = intbv(0, min=0, max=2 * all_words)
        address[:] = read_place
        if read_half:
            address[:] = address + half_words
        read_addr.next = address

    @always(clk.posedge)
    def access() -> None:
        if write:
            memory[write_addr].next = word
        deltas.next = memory[read_addr]

    return store, alternate, choose, access
