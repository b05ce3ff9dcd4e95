"""Pack beats of results into a stream with several words per beat, without gaps."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, intbv

from merp.hdl.base.lane import word_within
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.head import Head


@entity
def wide_serializer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    beat: Head,
    source: Stream,
    sent: Bit,
    width: int,
    lanes: int,
    ahead: int = 0,
) -> Any:
    """Send the words of beats end to end, several words at a time.

    beat    in   lanes words of width bits, the first in the lowest bits. Above them: the number of
                 words that count. Above that: a flag that the beat ends the run; at least one word
                 counts then.
    source  out  stream of as many words as its data has room for, the first word lowest. last is
                 set with the last beat of the run, which may hold fewer words. keep has a bit per
                 byte; words that do not count are zero.
    sent    out  the last beat was transferred; high until the next start

    ahead: number of words gathered beyond a full beat. They keep source busy if beats of few words
    follow beats of many words.

    Latency: words are on source one cycle after the beat that completes them was taken. Throughput:
    as many words per cycle as the narrower of sink and source. Reset: no beat held.
    """
    size, out_bits = lanes * width, len(source.data)
    out = out_bits // width
    lane_bytes = len(source.keep) // out
    enough = out + ahead
    most = enough - 1 + lanes
    whole = (most + out) * width
    shift_bits = whole.bit_length()
    top = len(beat.word) - 1
    gathered = bits(most * width)  # zeros beyond fill
    fill = count(most + out)
    counted = count(lanes)
    ending, leaves = flag(), flag()
    masked = [bits(width) for _ in range(lanes)]
    fresh = ConcatSignal(*reversed(masked)) if lanes > 1 else masked[0]

    @always_comb
    def measure() -> None:
        counted.next = beat.word[top:size]

    @always_comb
    def present() -> None:
        source.data.next = gathered[out_bits:]
        source.valid.next = fill >= out or ending
        source.last.next = ending and fill <= out
        for i in range(out * lane_bytes):
            source.keep.next[i] = i // lane_bytes < fill

    @always_comb
    def decide() -> None:
        leaves.next = (fill >= out or ending) and source.ready
        beat.take.next = (
            beat.valid and not ending and (fill < enough or (source.ready and fill < enough + out))
        )

    @always(clk.posedge)
    def gather() -> None:
        kept = intbv(0)[whole:]
        placed = intbv(0)[whole:]
        left = intbv(0)[len(fill) :]
        shift = intbv(0)[shift_bits:]
        kept[:] = gathered
        left[:] = fill
        if leaves:
            kept[:] = kept >> out_bits
            if fill > out:
                left[:] = fill - out
            else:
                left[:] = 0
                if ending:
                    ending.next = False
                    sent.next = True
        if beat.take:
            for i in range(enough):
                if left == i:
                    shift[:] = i * width
            placed[:] = fresh
            kept[:] = kept | (placed << shift)
            left[:] = left + counted
            ending.next = beat.word[top]
        gathered.next = kept[most * width :]
        fill.next = left
        if start:
            sent.next = False
        if rst:
            gathered.next = 0
            fill.next = 0
            ending.next = False
            sent.next = False

    masks = [
        word_within(
            word=beat.word((at + 1) * width, at * width), counted=counted, kept=masked[at], at=at
        )
        for at in range(lanes)
    ]
    return measure, present, decide, gather, masks
