"""Output buffer of a lane: written word by word, read atom by atom."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.base.dual_port_ram import dual_port_ram
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@block
def _chosen(write: Bit, column: Word, enable: Bit, number: int) -> Any:
    @always_comb
    def choose() -> None:
        enable.next = write and column == number

    return choose


@entity
def atom_memory(
    clk: Bit,
    write: Bit,
    write_addr: Word,
    column: Word,
    word: Word,
    read_addr: Word,
    atom: Word,
    words: int,
) -> Any:
    """Keep atoms, with one memory per column.

    write, write_addr, column, word  in   write a word into a column of an atom
    read_addr  in   address of the atom to read
    atom       out  the atom, a cycle later, column 0 lowest

    A column that was not written keeps its old content. Throughput: a word in and an atom out per
    cycle. Reset: none.
    """
    width = len(word)
    columns = len(atom) // width
    enables = [flag() for _ in range(columns)]
    found = [bits(width) for _ in range(columns)]
    choices = [
        _chosen(write=write, column=column, enable=enables[j], number=j) for j in range(columns)
    ]
    memories = [
        dual_port_ram(
            clk,
            write=enables[j],
            write_addr=write_addr,
            data=word,
            read_addr=read_addr,
            word=found[j],
            words=words,
        )
        for j in range(columns)
    ]
    joined = ConcatSignal(*reversed(found))

    @always_comb
    def hand_out() -> None:
        atom.next = joined

    return choices, memories, hand_out
