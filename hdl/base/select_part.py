"""Registered selection among parts of a word, with parts of any size."""

from __future__ import annotations

from typing import Any

from myhdl import always, block, intbv

from merp.hdl.conversion.entity import Bit, Word


@block
def select_part(clk: Bit, words: Word, index: Word, word: Word, size: int, parts: int) -> Any:
    """Select part ``index`` of ``parts`` parts of ``size`` bits each.

    words  in   the parts, the first lowest; missing bits of the last part are read as zero
    word   out  the part, one cycle later; zero if the part does not exist
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
