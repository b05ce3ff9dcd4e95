"""Packed beats to pieces of as many words as are wanted, each from the lowest place on."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.rotator import rotator
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@block
def _lane(kept: Word, fresh: Word, at_hand: Word, lane: Word, at: int) -> Any:
    """Word ``at`` of the last beat, or if that has been used, of the next one."""

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
    """Cut a stream of packed beats into pieces of at most a beat.

    wanted       in   words of the piece, at least one; stable until it is taken
    ending       in   it is the stream's last piece
    sink         in   beats, the first word lowest; behind the last piece words do not count
    piece, valid, take  out, out, in  the piece, its first word lowest, words behind it any; that it
                                      is there; that it is taken, only while it is valid
    misplaced    out  last came with another beat than that of the final piece's end, as far as the
                      piece that is taken tells

    Latency: combinational. Throughput: a piece per cycle. Reset, and start: the next piece begins
    with a beat.
    """
    lanes = 1 << (len(wanted) - 1)
    width = len(sink.data) // lanes
    used = count(lanes)  # words of the kept beat that have been taken: all of them at first
    after = count(2 * lanes)
    kept, kept_last = bits(len(sink.data)), flag()
    more = flag()  # the piece reaches into the next beat
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
