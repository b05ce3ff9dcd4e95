"""Duplicate a stream for two readers, each of which takes every word at its own pace."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, flag
from merp.hdl.conversion.entity import Bit, entity


@entity
def broadcast(clk: Bit, rst: Bit, sink: Stream, one: Stream, other: Stream) -> Any:
    """Give every word to two streams; the sink is ready once both have taken the word.

    sink        in   words
    one, other  out  the same words

    The block stores no word, so neither stream is more than one word ahead of the other. A FIFO
    behind each stream lets it run further ahead. Valid and ready pass combinationally. Throughput:
    a word per cycle. Reset: neither stream has taken the offered word.
    """
    one_has, other_has = flag(), flag()

    @always_comb
    def offer() -> None:
        one.data.next = sink.data
        one.last.next = sink.last
        one.valid.next = sink.valid and not one_has
        other.data.next = sink.data
        other.last.next = sink.last
        other.valid.next = sink.valid and not other_has
        sink.ready.next = (one_has or one.ready) and (other_has or other.ready)

    @always(clk.posedge)
    def remember() -> None:
        if sink.valid:
            if (one_has or one.ready) and (other_has or other.ready):
                one_has.next = False
                other_has.next = False
            else:
                one_has.next = one_has or one.ready
                other_has.next = other_has or other.ready
        if rst:
            one_has.next = False
            other_has.next = False

    return offer, remember
