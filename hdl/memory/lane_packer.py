"""Put the words of a walk into the beats of its bursts."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.memory.lane_place import LanePlace, lane_place
from merp.hdl.memory.requests import Bursts, WriteBeats
from merp.models.memory.params.mover import Mover


@block
def _lane(
    clk: Bit, moves: Bit, place: LanePlace, word: Word, kept: Word, mark: Bit, at: int
) -> Any:
    """Keep the word of lane ``at``; the mark tells that it is of the present beat."""

    @always(clk.posedge)
    def keep() -> None:
        if moves:
            if place.lane == at:
                kept.next = word
                mark.next = True
            elif place.opens:
                mark.next = False

    return keep


@entity
def lane_packer(
    clk: Bit,
    rst: Bit,
    room: Bit,
    burst: Bursts,
    sink: Stream,
    completes: Bit,
    beats: WriteBeats,
    mover: Mover,
) -> Any:
    """Collect the words of each beat of a burst, each in its lane.

    room       in   there is a place for the next beat
    burst      in   the burst of the next word; ready is high as its final word is taken
    sink       in   words
    completes  out  the last word of a beat is taken
    beats      out  beats, each valid for one cycle; strobe marks the lanes of the words. ready is
                    not read

    Latency: a beat is valid one cycle after its last word. Throughput: a word per cycle. Reset: the
    next word is the first of a burst.
    """
    lanes, width = mover.lanes, mover.word_bits
    place = LanePlace(mover)
    beat = count(mover.port.burst_beats - 1)  # number of the beat in its burst
    last_beat, moves = flag(), flag()
    words, marks = [bits(width) for _ in range(lanes)], [flag() for _ in range(lanes)]
    joined = ConcatSignal(*reversed(words)) if lanes > 1 else words[0]
    marked = ConcatSignal(*reversed(marks)) if lanes > 1 else marks[0]

    @always_comb
    def admit() -> None:
        last_beat.next = beat == burst.length
        moves.next = burst.valid and room and sink.valid
        sink.ready.next = burst.valid and room

    @always_comb
    def end() -> None:
        burst.ready.next = moves and place.final
        completes.next = moves and place.spent

    @always(clk.posedge)
    def advance() -> None:
        beats.valid.next = completes
        beats.last.next = last_beat
        if moves:
            if place.final:
                beat.next = 0
            elif place.spent:
                beat.next = beat + 1
        if rst:
            beats.valid.next = False
            beat.next = 0

    @always_comb
    def join() -> None:
        beats.data.next = joined
        beats.strobe.next = marked

    kept = [
        _lane(clk, moves=moves, place=place, word=sink.data, kept=words[at], mark=marks[at], at=at)
        for at in range(lanes)
    ]
    followed = lane_place(
        clk, rst, burst=burst, last_beat=last_beat, moves=moves, place=place, mover=mover
    )
    return admit, end, advance, join, kept, followed
