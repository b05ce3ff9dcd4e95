"""Registered selection of a part of a word, by the cheapest circuit for its width."""

from __future__ import annotations

from typing import Any

from myhdl import block

from merp.hdl.base.select_part import select_part
from merp.hdl.base.select_word import place_of, select_word
from merp.hdl.conversion.entity import Bit, Word


@block
def choose_part(clk: Bit, words: Word, index: Word, word: Word, parts: int) -> Any:
    """Select part ``index`` of ``parts`` parts.

    words  in   the parts, the first lowest
    word   out  the part, one cycle later; zero if the part does not exist
    """
    width = len(word)
    place = place_of(width)
    if width == 1 << place:
        return select_word(clk, words=words, index=index, word=word, place=place)
    return select_part(clk, words=words, index=index, word=word, size=width, parts=parts)
