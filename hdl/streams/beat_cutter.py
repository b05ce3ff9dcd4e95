"""Cut packed beats into pieces of the requested number of words, each aligned to word 0."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.rotator import rotator
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@block
def _lane(kept: Word, fresh: Word, at_hand: Word, lane: Word, at: int) -> Any:
    """Select word ``at`` of the kept beat, or of the next beat if the kept word has been used."""

    @always_comb
    def choose() -> None:
        if at_hand > at:
            lane.next = fresh
        else:
            lane.next = kept

    return choose


@entity
def beat_cutter(
    clk: Bit,
    rst: Bit,
    start: Bit,
    wanted: Word,
    ending: Bit,
    sink: Stream,
    piece: Word,
    valid: Bit,
    take: Bit,
    misplaced: Bit,
) -> Any:
    """Cut a stream of packed beats into pieces of at most one beat.

    wanted              in   words of the piece, at least one; stable until the piece is taken
    ending              in   the piece is the last one of the stream
    sink                in   beats, the first word lowest. Words behind the last piece are ignored.
    piece, valid, take  out, out, in  the piece, its first word lowest, with arbitrary words behind
                                      it. valid: the piece is available. take: the piece is taken,
                                      allowed only while valid is high.
    misplaced           out  last arrived with a beat that does not hold the end of the final piece.
                             Only the piece at the output is checked.

    Latency: combinational. Throughput: a piece per cycle. Reset, and start: the next piece begins
    with a new beat.
    """
    lanes = 1 << (len(wanted) - 1)
    width = len(sink.data) // lanes
    used = count(lanes)  # words of the kept beat that have been used: all of them at first
    after = count(2 * lanes)
    kept, kept_last = bits(len(sink.data)), flag()
    more = flag()  # the piece extends into the next beat
    turn = count(lanes - 1)
    lane_words = [bits(width) for _ in range(lanes)]
    joined = ConcatSignal(*reversed(lane_words))
    mixed = bits(len(sink.data))

    @always_comb
    def reach() -> None:
        after.next = used + wanted
        turn.next = used[len(turn) :]

    @always_comb
    def compare() -> None:
        more.next = after > lanes

    @always_comb
    def offer() -> None:
        valid.next = sink.valid or not more
        sink.ready.next = take and more
        if more:
            misplaced.next = kept_last or (ending and not sink.last)
        else:
            misplaced.next = ending and not kept_last

    @always_comb
    def join() -> None:
        mixed.next = joined

    @always(clk.posedge)
    def keep() -> None:
        if take:
            if more:
                used.next = after - lanes
                kept.next = sink.data
                kept_last.next = sink.last
            else:
                used.next = after
        if start or rst:
            used.next = lanes
            kept_last.next = False

    return (
        reach, compare, offer, join, keep,
        [
            _lane(
                kept=kept((at + 1) * width, at * width),
                fresh=sink.data((at + 1) * width, at * width),
                at_hand=used,
                lane=lane_words[at],
                at=at,
            )
            for at in range(lanes)
        ],
        rotator(x=mixed, shift=turn, y=piece, places=lanes, width=width),
    )  # fmt: skip
