"""Take the words of a walk out of the beats that memory returned."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.axi.axi_lite import SLVERR
from merp.hdl.base.signals import Stream, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.lane_place import LanePlace, lane_place
from merp.hdl.memory.requests import Bursts, ErrorResponse, ReadBeats
from merp.models.memory.params.mover import Mover


@entity
def lane_unpacker(
    clk: Bit,
    rst: Bit,
    beats: ReadBeats,
    take: Bit,
    burst: Bursts,
    source: Stream,
    error: ErrorResponse,
    mover: Mover,
) -> Any:
    """Send the words of each beat, from the first to the final word of each burst.

    beats   in   the next beat
    take    out  the beat is taken
    burst   in   the burst of this beat; ready is high as its last beat is taken
    source  out  words; last is set with the last word of the walk
    error   out  a beat carried an error response: its words and all behind it stay

    Latency: combinational. Throughput: a word per cycle. Reset: no error, and the next beat is the
    first of a burst.
    """
    lanes, width, whole = mover.lanes, mover.word_bits, mover.port.data_bits
    size = whole.bit_length()
    place = LanePlace(mover)
    offered, refused, moves = flag(), flag(), flag()

    @always_comb
    def judge() -> None:
        offered.next = beats.valid and burst.valid and beats.resp < SLVERR
        refused.next = beats.valid and burst.valid and beats.resp >= SLVERR

    @always_comb
    def select() -> None:
        shift = intbv(0)[size:]
        moved = intbv(0)[whole:]
        for i in range(lanes):
            if place.lane == i:
                shift[:] = i * width
        moved[:] = beats.data >> shift
        source.data.next = moved[width:]

    @always_comb
    def offer() -> None:
        moves.next = offered and source.ready
        source.valid.next = offered
        source.last.next = place.final and burst.last
        take.next = offered and source.ready and place.spent
        burst.ready.next = offered and source.ready and place.final

    @always(clk.posedge)
    def remember() -> None:
        if refused and not error.found:
            error.found.next = True
            error.resp.next = beats.resp
            error.address.next = burst.address
        if rst:
            error.found.next = False

    followed = lane_place(
        clk, rst, burst=burst, last_beat=beats.last, moves=moves, place=place, mover=mover
    )
    return judge, select, offer, remember, followed
