"""Serialise beats of results into a stream of words."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.head import Head


@entity
def serializer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    beat: Head,
    source: Stream,
    sent: Bit,
    width: int,
    lanes: int,
) -> Any:
    """Send the words of a beat one by one.

    beat    in   lanes words of width bits, the first in the lowest bits. Above them: the number of
                 words that count, at least one. Above that: a flag that the beat ends the run.
    source  out  stream; last is set with the last word of the run
    sent    out  the last word was transferred; high until the next start

    Latency: a word is on source one cycle after its beat was taken. Throughput: a word per cycle.
    Reset: no beat held.
    """
    size = lanes * width
    top = len(beat.word) - 1
    rest = bits(size)
    left = count(lanes)
    ending = flag()

    @always_comb
    def present() -> None:
        source.data.next = rest[width:]
        source.valid.next = left != 0
        source.last.next = ending and left == 1

    @always_comb
    def fetch() -> None:
        beat.take.next = beat.valid and (left == 0 or (left == 1 and source.ready))

    @always(clk.posedge)
    def send() -> None:
        if left != 0 and source.ready:
            rest.next = rest >> width
            left.next = left - 1
            if left == 1 and ending:
                sent.next = True
        if beat.take:
            rest.next = beat.word[size:]
            left.next = beat.word[top:size]
            ending.next = beat.word[top]
        if start:
            sent.next = False
        if rst:
            left.next = 0
            sent.next = False

    return present, fetch, send
