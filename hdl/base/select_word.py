"""Registered selection among words at distances of a power of two."""

from __future__ import annotations

from typing import Any

from myhdl import always, concat, intbv

from merp.hdl.conversion.entity import Bit, Word, entity


def index_of(shift: Any, place: int) -> Any:
    """Return the index of the word whose lowest bit is at ``shift``, a multiple of 2^place."""
    return shift(len(shift), place) if len(shift) > place else shift


def place_of(width: int) -> int:
    """Return the largest place with gapless words of ``width`` bits at multiples of 2^place."""
    return (width & -width).bit_length() - 1


@entity
def select_word(clk: Bit, words: Word, index: Word, word: Word, place: int) -> Any:
    """Select the word whose lowest bit is ``index`` * 2^place.

    words  in   the words, the first lowest
    index  in   number of the word, from 0
    word   out  the word, one cycle later; zero if the word does not exist

    Synthesis detects that the low bits of the shift are zero, and builds a multiplexer of words.
    Throughput: one per cycle. Reset: none.
    """
    all_bits, width, shift_bits = len(words), len(word), len(index) + place

    @always(clk.posedge)
    def select() -> None:
        shift = intbv(0)[shift_bits:]
        moved = intbv(0)[all_bits:]
        shift[:] = concat(index, intbv(0)[place:])
        moved[:] = words >> shift
        word.next = moved[width:]

    return select
