"""A stream whose ready comes from a register; its words wait in none."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.conversion.entity import Bit


@block
def stream_skid(clk: Bit, clear: Bit, sink: Stream, source: Stream) -> Any:
    """Hand words on in the cycle in which they come, and keep the one that is not taken then.

    clear         in       drop what is kept
    sink, source  in, out  words; ready does not pass from one side to the other in a cycle

    Where latency is free, ``stream_slice`` has valid and data in registers, too.
    Latency: none. Throughput: a word per cycle. Reset: none, begin with clear.
    """
    kept = bits(len(sink.data))
    kept_last, waiting = flag(), flag()  # a word is kept

    @always_comb
    def offer() -> None:
        sink.ready.next = not waiting
        source.valid.next = sink.valid or waiting
        if waiting:
            source.data.next = kept
            source.last.next = kept_last
        else:
            source.data.next = sink.data
            source.last.next = sink.last

    @always(clk.posedge)
    def keep() -> None:
        waiting.next = (sink.valid or waiting) and not source.ready
        if not waiting:
            kept.next = sink.data
            kept_last.next = sink.last
        if clear:
            waiting.next = False

    return offer, keep
