"""Masks of the outputs of all layers: a bit per word, an atom per memory word."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.base.delay import delay
from merp.hdl.base.dual_port_ram import dual_port_ram
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.mac_array.params.design import WORD_BITS


@block
def _positive(word: Word, is_positive: Bit, limit: Word) -> Any:
    """Check whether a word is positive and, with a limit, below it."""
    if limit is None:

        @always_comb
        def compare() -> None:
            is_positive.next = word != 0 and not word[WORD_BITS - 1]

        return compare

    @always_comb
    def compare_both() -> None:
        is_positive.next = 0 < word and word < limit  # no limit is above that of negative words

    return compare_both


@entity
def mask_memory(
    clk: Bit,
    write: Bit,
    write_addr: Word,
    atom: Word,
    read: Bit,
    read_addr: Word,
    mask: Word,
    words: int,
    limit: Word = None,
) -> Any:
    """Keep a bit per word of an atom: the word is positive.

    write, write_addr, atom  in   an atom of outputs is sent
    read, read_addr  in   an atom of the deltas of these outputs is being sent
    mask             out  a bit of each column, a cycle later; all bits are set without read
    limit            in   (in a design for ReLU6) a bit is set only if the word is below it

    The mask refers to the words that are sent, after rounding, ReLU and pooling. Throughput: an
    atom in and one out per cycle. Reset: none; a mask stays until it is overwritten.
    """
    columns = len(mask)
    everything = (1 << columns) - 1
    flags = [flag() for _ in range(columns)]
    positive, found = bits(columns), bits(columns)
    was_read = flag()
    compared = [
        _positive(word=atom((j + 1) * WORD_BITS, j * WORD_BITS), is_positive=flags[j], limit=limit)
        for j in range(columns)
    ]
    joined = ConcatSignal(*reversed(flags))

    @always_comb
    def collect() -> None:
        positive.next = joined

    @always_comb
    def give() -> None:
        if was_read:
            mask.next = found
        else:
            mask.next = everything

    mask_ram = dual_port_ram(
        clk,
        write=write,
        write_addr=write_addr,
        data=positive,
        read_addr=read_addr,
        word=found,
        words=words,
    )
    return compared, collect, mask_ram, delay(clk, d=read, q=was_read, cycles=1), give
