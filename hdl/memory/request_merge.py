"""Merge the requests of two streams, or of two groups of streams, in turn."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.requests import NumberedRequests


@entity
def request_merge(
    clk: Bit, rst: Bit, one: NumberedRequests, other: NumberedRequests, merged: NumberedRequests
) -> Any:
    """Hand on a request of either side; if both have one, they take turns.

    one, other  in   requests; ready is high if this side is chosen
    merged      out  the chosen request; until it is taken, it may give way to the other side

    Latency: combinational. Throughput: a request per cycle. Reset: the turn is with one.
    """
    others_turn, chosen = flag(), flag()

    @always_comb
    def choose() -> None:
        chosen.next = other.valid and (others_turn or not one.valid)

    @always_comb
    def hand_on() -> None:
        merged.valid.next = one.valid or other.valid
        one.ready.next = merged.ready and not chosen
        other.ready.next = merged.ready and chosen
        if chosen:
            merged.stream.next = other.stream
            merged.address.next = other.address
            merged.length.next = other.length
        else:
            merged.stream.next = one.stream
            merged.address.next = one.address
            merged.length.next = one.length

    @always(clk.posedge)
    def take_turns() -> None:
        if merged.ready and (one.valid or other.valid):
            others_turn.next = not chosen
        if rst:
            others_turn.next = False

    return choose, hand_on, take_turns
