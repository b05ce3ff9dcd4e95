"""The place of each word of a burst: its lane in the beat, and whether it ends beat and burst."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.requests import Bursts
from merp.models.memory.params.mover import Mover


class LanePlace:
    """The place of the next word."""

    def __init__(self, mover: Mover) -> None:
        self.lane = count(mover.lanes - 1)  # its lane
        self.opens = flag()  # it is the first one of its beat
        self.spent = flag()  # it is the last one of its beat
        self.final = flag()  # it is the last one of its burst


@entity
def lane_place(
    clk: Bit,
    rst: Bit,
    burst: Bursts,
    last_beat: Bit,
    moves: Bit,
    place: LanePlace,
    mover: Mover,
) -> Any:
    """Follow the words of bursts through their beats.

    burst      in   first and final lane of the burst; its next one follows after its final word
    last_beat  in   the beat is the last one of the burst
    moves      in   a word moves
    place      out  the place of that word, or of the next one

    Latency: combinational. Throughput: a word per cycle. Reset: the next word is the first of a
    burst.
    """
    last_lane = mover.lanes - 1
    lane = count(last_lane)
    begins = flag()  # the next word is the first one of its burst

    @always_comb
    def locate() -> None:
        place.lane.next = lane
        place.opens.next = lane == 0
        if begins:
            place.lane.next = burst.first

    @always_comb
    def compare() -> None:
        # Both lanes are compared before one is chosen, which shortens the longest path.
        reached = (begins and burst.first == burst.final) or (not begins and lane == burst.final)
        full = (begins and burst.first == last_lane) or (not begins and lane == last_lane)
        place.final.next = last_beat and reached
        place.spent.next = full or (last_beat and reached)

    @always(clk.posedge)
    def step() -> None:
        if moves:
            begins.next = place.final
            if place.spent:
                lane.next = 0
            else:
                lane.next = place.lane + 1
        if rst:
            begins.next = True
            lane.next = 0

    return locate, compare, step
