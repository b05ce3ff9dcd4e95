"""Words of deltas in two halves: one is read while the other one is written."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.delta_buffer.delta_ports import HalfRead, HalfWrite, SlotDeltas
from merp.hdl.conversion.entity import Bit, entity


@entity
def delta_memory(
    clk: Bit,
    rst: Bit,
    start: Bit,
    write: HalfWrite,
    read: HalfRead,
    operand: SlotDeltas,
    half_words: int,
) -> Any:
    """Keep words until their half is written again.

    write    in   a word for the half that is written
    read     in   a place in the half that is read
    operand  out  the word, a cycle later; opening: the half that is read is the first one of the
                  run

    A word may be read three cycles after taken. Reset: nothing is written; begin with start.
    """
    word, deltas, opening = write.word, operand.deltas, operand.opening
    all_words = 2 * half_words
    write_half, read_half = flag(), flag()
    stored, enable = flag(), flag()
    stored_addr, write_addr, read_addr = (count(all_words - 1) for _ in range(3))
    memory = [bits(len(word)) for _ in range(all_words)]

    @always(clk.posedge)
    def store() -> None:
        address = intbv(0, min=0, max=2 * all_words)
        address[:] = write.place
        if write_half:
            address[:] = address + half_words
        stored_addr.next = address
        stored.next = write.taken and not rst
        write_addr.next = stored_addr
        enable.next = stored
        if write.ends:
            write_half.next = not write_half
        if start:
            write_half.next = False

    @always(clk.posedge)
    def alternate() -> None:
        if read.ends:
            read_half.next = not read_half
            opening.next = False
        if start:
            read_half.next = False
            opening.next = True

    @always_comb
    def choose() -> None:
        address = intbv(0, min=0, max=2 * all_words)
        address[:] = read.place
        if read_half:
            address[:] = address + half_words
        read_addr.next = address

    @always(clk.posedge)
    def access() -> None:
        if enable:
            memory[write_addr].next = word
        deltas.next = memory[read_addr]

    return store, alternate, choose, access
