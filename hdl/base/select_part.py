"""Registered selection among parts of a word that are of any size."""

from __future__ import annotations

from typing import Any

from myhdl import always, block, intbv

from merp.hdl.conversion.entity import Bit, Word


@block
def select_part(clk: Bit, words: Word, index: Word, word: Word, size: int, parts: int) -> Any:
    """Take part ``index`` of ``parts`` of ``size`` bits each.

    words  in   the first part lowest; bits that it lacks of the last one are zero
    word   out  a cycle later; zero where there is no such part
    """
    whole = parts * size

    @always(clk.posedge)
    def select() -> None:
        chosen = intbv(0)[whole:]
        moved = intbv(0)[whole:]
        for i in range(parts):
            moved[:] = words >> (i * size)
            if index == i:
                chosen[:] = chosen | moved
        word.next = chosen[size:]

    return select
