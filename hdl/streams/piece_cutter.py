"""Cut packed beats into pieces that do not cross the boundary between two lengths of the stream."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.lane import word_within
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.beat_cutter import beat_cutter


@block
def _pass_on(piece: Word, data: Word) -> Any:
    """Pass on the words of a piece."""
    size = len(data)

    @always_comb
    def give() -> None:
        data.next = piece[size:]

    return give


@entity
def piece_cutter(
    clk: Bit,
    rst: Bit,
    start: Bit,
    length: Word,
    lengths: Word,
    sink: Stream,
    source: Stream,
    width: int,
    filling: Word = None,
) -> Any:
    """Cut a stream of packed beats into pieces, each aligned to word 0.

    length, lengths  in   words per length, and number of lengths in the run; stable from start on
    sink             in   beats of words of width bits, the first word lowest, without gaps
    source           out  pieces as wide as source. Every piece is full except the last of each
                          length, where words behind the end are arbitrary. last is set with the
                          last piece, unless the last of sink arrived with a beat that does not hold
                          the last word
    filling          in   number of zeros appended to every length as part of its pieces; words
                          behind the end are zero then

    A misplaced last stays misplaced: it moves to another piece or is missing. Latency:
    combinational. Throughput: a piece per cycle. Reset: nothing is taken, begin with start.
    """
    lanes, most = len(sink.data) // width, len(source.data) // width
    size = lanes.bit_length()
    left = bits(max(len(length), size))  # words up to the next boundary
    lengths_left = bits(len(lengths))
    active = flag()
    wanted = bits(size)
    short, ending, final = flag(), flag(), flag()
    piece, valid, take, misplaced = bits(lanes * width), flag(), flag(), flag()

    cutter = beat_cutter(
        clk,
        rst,
        start,
        wanted=wanted,
        ending=ending,
        sink=sink,
        piece=piece,
        valid=valid,
        take=take,
        misplaced=misplaced,
    )

    @always_comb
    def measure() -> None:
        short.next = left <= most
        wanted.next = most
        if left <= most:
            wanted.next = left[size:]
        final.next = lengths_left == 1

    if filling is None:

        @always_comb
        def offer() -> None:
            ending.next = short and final
            take.next = active and valid and source.ready
            source.valid.next = active and valid
            if misplaced:
                source.last.next = not (short and final)
            else:
                source.last.next = short and final

        @always(clk.posedge)
        def tally() -> None:
            if take:
                if not short:
                    left.next = left - most
                else:
                    left.next = length
                    lengths_left.next = lengths_left - 1
                    active.next = not final
            if start or rst:
                active.next = start and not rst
                left.next = length
                lengths_left.next = lengths

        return cutter, measure, offer, tally, _pass_on(piece=piece, data=source.data)

    zeros = count(max(2 * most, (1 << len(filling)) - 1))  # zeros left behind this length
    total = count(2 * ((1 << len(left)) + (1 << len(zeros))))
    # the piece has words; it is the last one of its length
    words, over, step = flag(), flag(), flag()

    @always_comb
    def add() -> None:
        words.next = left != 0
        total.next = left + zeros

    @always_comb
    def recognise() -> None:
        over.next = total <= most
        ending.next = short and words and final

    @always_comb
    def offer_whole() -> None:
        take.next = active and words and valid and source.ready
        step.next = active and (valid or not words) and source.ready
        source.valid.next = active and (valid or not words)
        if misplaced:
            source.last.next = not (over and final)
        else:
            source.last.next = over and final

    @always(clk.posedge)
    def tally_whole() -> None:
        if step:
            if over:
                left.next = length
                zeros.next = filling
                lengths_left.next = lengths_left - 1
                active.next = not final
            elif not short:
                left.next = left - most
            else:
                left.next = 0
                zeros.next = total - most
        if start or rst:
            active.next = start and not rst
            left.next = length
            zeros.next = filling
            lengths_left.next = lengths

    masked = [bits(width) for _ in range(most)]
    joined = ConcatSignal(*reversed(masked)) if most > 1 else masked[0]
    masks = [
        word_within(word=piece((at + 1) * width, at * width), counted=left, kept=masked[at], at=at)
        for at in range(most)
    ]
    return (
        cutter, measure, add, recognise, offer_whole, tally_whole, masks,
        _pass_on(piece=joined, data=source.data),
    )  # fmt: skip
