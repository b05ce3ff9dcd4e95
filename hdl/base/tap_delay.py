"""Recall the beats at the same place of earlier periods of a stream, such as rows or columns."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, intbv

from merp.hdl.base.either import either
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@block
def _single(clk: Bit, advance: Bit, moved: Word, kept: Word) -> Any:
    """Handle periods of one beat: the only stored word is the result of the last beat."""

    @always(clk.posedge)
    def hold() -> None:
        if advance:
            kept.next = moved

    return hold


@block
def _ring(
    clk: Bit, start: Bit, advance: Bit, closes: Bit, moved: Word, kept: Word, words: int
) -> Any:
    """Store a word for each place of a period, and read it for the next beat."""
    memory = [bits(len(moved)) for _ in range(words)]
    place = count(words - 1)
    word, left = bits(len(moved)), bits(len(moved))
    alone = flag()  # a period has one beat: its word would be read while it is written

    @always(clk.posedge)
    def access() -> None:
        following = intbv(0, min=0, max=words + 1)
        if advance:
            if not closes:
                following[:] = place + 1
            memory[place].next = moved
            word.next = memory[following]
            left.next = moved
            alone.next = closes and place == 0
            place.next = following
        if start:
            place.next = 0

    return access, either(choice=alone, one=left, other=word, y=kept)


@entity
def tap_delay(
    clk: Bit, start: Bit, advance: Bit, closes: Bit, sink: Word, taps: Word, words: int
) -> Any:
    """Give a beat together with the beats at its place in the periods before.

    start    in   the next beat is the first of a period
    advance  in   the beat is taken, and the next one follows
    closes   in   the beat is the last one of its period, of at most words beats
    sink     in   a beat
    taps     out  the beat, highest, and the beats one period before, two periods before, ..., the
                  oldest lowest

    A place that had no beat yet gives undefined bits. Latency: combinational. Throughput: a beat
    per cycle. Reset: none, begin with start.
    """
    width, whole = len(sink), len(taps)
    kept, moved = bits(whole - width), bits(whole - width)
    joined = ConcatSignal(sink, kept)

    @always_comb
    def look() -> None:
        taps.next = joined

    @always_comb
    def move() -> None:
        moved.next = joined[whole:width]

    if words == 1:
        store = _single(clk, advance=advance, moved=moved, kept=kept)
    else:
        store = _ring(
            clk, start, advance=advance, closes=closes, moved=moved, kept=kept, words=words
        )
    return look, move, store
