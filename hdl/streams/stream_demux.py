"""Demultiplex one stream to two readers that take turns."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import Stream
from merp.hdl.conversion.entity import Bit


@block
def stream_demux(second: Bit, turn_ends: Bit, sink: Stream, one: Stream, other: Stream) -> Any:
    """Pass the words on to one of two streams.

    second      in   the words belong to other; it changes only between words
    turn_ends   in   the next word is the last one of its turn
    sink        in   words; keep does not pass through here
    one, other  out  each stream receives its own words. The last of other is the last of sink. The
                     last of one is set with the last word of its turn. If the last of sink comes
                     with that word, it is not set: a misplaced last stays misplaced.

    Latency: combinational. Throughput: a word per cycle. Reset: none.
    """

    @always_comb
    def distribute() -> None:
        one.data.next = sink.data
        one.last.next = turn_ends != sink.last
        one.valid.next = sink.valid and not second
        other.data.next = sink.data
        other.last.next = sink.last
        other.valid.next = sink.valid and second
        if second:
            sink.ready.next = other.ready
        else:
            sink.ready.next = one.ready

    return distribute
