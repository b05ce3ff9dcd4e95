"""Append zeros that memory does not store to every group of words of a stream."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def tail_filler(
    clk: Bit,
    rst: Bit,
    start: Bit,
    length: Word,
    filling: Word,
    sink: Stream,
    source: Stream,
) -> Any:
    """Send ``filling`` zeros behind every ``length`` words of a stream.

    length, filling  in   words per group, at least one; zeros per group, possibly none. Both are
                          stable from start on
    sink             in   words
    source           out  the words and the zeros; a last moves to the last zero behind its word

    A last that arrives before its group is complete stays with its word, so a framing error remains
    visible. Latency: combinational. Throughput: a word per cycle. Reset: as after start.
    """
    at = count(1 << len(length))  # can also hold its limit, so at + 1 can be compared
    left = bits(len(filling))  # zeros still to be sent
    ended = flag()  # the word in front of the zeros carried last
    ends = flag()  # the current word completes ``length``

    @always_comb
    def recognise() -> None:
        ends.next = at + 1 == length

    @always_comb
    def pass_on() -> None:
        if left != 0:
            source.data.next = 0
            source.valid.next = True
            source.last.next = ended and left == 1
            sink.ready.next = False
        else:
            source.data.next = sink.data
            source.valid.next = sink.valid
            source.last.next = sink.last and not (ends and filling != 0)
            sink.ready.next = source.ready

    @always(clk.posedge)
    def tally() -> None:
        if left != 0:
            if source.ready:
                left.next = left - 1
        elif sink.valid and source.ready:
            if ends:
                at.next = 0
                left.next = filling
                ended.next = sink.last
            else:
                at.next = at + 1
        if start or rst:
            at.next = 0
            left.next = 0

    return recognise, pass_on, tally
