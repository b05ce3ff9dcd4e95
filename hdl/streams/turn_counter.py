"""Arbitrate between two users of a stream that take turns of a fixed number of words."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def turn_counter(
    clk: Bit, rst: Bit, start: Bit, words: Word, taken: Bit, second: Bit, turn_ends: Bit
) -> Any:
    """Count the words of a turn; the first user begins.

    words      in   words of a turn, at least one; stable from start on
    taken      in   a word is transferred in this cycle
    second     out  it is the turn of the second user
    turn_ends  out  the next word is the last one of its turn

    Latency: second changes one cycle after the last word of a turn. Reset: the turn of the first
    user, which start begins.
    """
    left = bits(len(words))  # words left behind the next word

    @always_comb
    def recognise() -> None:
        turn_ends.next = left == 0

    @always(clk.posedge)
    def tally() -> None:
        if taken:
            if turn_ends:
                left.next = words - 1
                second.next = not second
            else:
                left.next = left - 1
        if start:
            left.next = words - 1
            second.next = False
        if rst:
            left.next = 0
            second.next = False

    return recognise, tally
