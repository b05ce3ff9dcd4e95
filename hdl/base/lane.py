"""Select words and lanes by index, and mask the lanes that do not count."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, concat, intbv

from merp.hdl.conversion.entity import Bit, Word


@block
def split_index(clk: Bit, index: Word, word: Word, lane: Word) -> Any:
    """Split an index into the word number and, one cycle later, the lane number.

    If there are fewer elements than lanes, only a single word exists.
    """
    low, missing = len(lane), len(lane) - len(index)
    if missing > 0:

        @always(clk.posedge)
        def widen() -> None:
            word.next = 0
            lane.next = concat(intbv(0)[missing:], index)

        return widen

    if missing == 0:

        @always(clk.posedge)
        def hand_on_all() -> None:
            word.next = 0
            lane.next = index

        return hand_on_all

    @always_comb
    def divide() -> None:
        word.next = index[len(word) + low : low]

    @always(clk.posedge)
    def hand_on() -> None:
        lane.next = index[low:]

    return divide, hand_on


@block
def word_of_lane(words: Word, lane: Word, word: Word) -> Any:
    """Select one of ``words``; the lowest word belongs to lane 0."""
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


@block
def word_within(word: Word, counted: Word, kept: Word, at: int) -> Any:
    """Give the word at a place of a beat, or zero if the word does not count."""

    @always_comb
    def give() -> None:
        kept.next = 0
        if counted > at:
            kept.next = word

    return give


@block
def flags_within(valid: Bit, counted: Word, flags: Word, kept: Word) -> Any:
    """Keep the flags of the first ``counted`` lanes in a valid cycle."""
    lanes = len(flags)

    @always_comb
    def keep() -> None:
        for i in range(lanes):
            kept.next[i] = valid and counted > i and flags[i]

    return keep
