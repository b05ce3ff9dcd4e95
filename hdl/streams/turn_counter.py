"""Whose turn it is of two that share a stream, so many words each."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def turn_counter(
    clk: Bit, rst: Bit, start: Bit, words: Word, taken: Bit, second: Bit, turn_ends: Bit
) -> Any:
    """Count the words of a turn; the first of the two begins.

    words   in   of a turn, one at least; stable from start on
    taken   in   a word is transferred in this cycle
    second  out  it is the second one's turn
    turn_ends   out  the next word is its turn's last

    Latency: second changes in the cycle behind a turn's last word. Reset: the first one's turn,
    which start begins.
    """
    left = bits(len(words))  # behind the next word

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
