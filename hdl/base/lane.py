"""The word of a lane, without a register: a multiplexer."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block, intbv

from merp.hdl.conversion.entity import Word


@block
def word_of_lane(words: Word, lane: Word, word: Word) -> Any:
    """Take one of ``words``, whose lowest is that of lane 0."""
    width, whole = len(word), len(words)
    lanes = whole // width
    size = whole.bit_length()

    @always_comb
    def choose() -> None:
        shift = intbv(0)[size:]
        moved = intbv(0)[whole:]
        for i in range(lanes):
            if lane == i:
                shift[:] = i * width
        moved[:] = words >> shift
        word.next = moved[width:]

    return choose
