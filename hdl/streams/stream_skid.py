"""Skid buffer: ready is registered, valid and data pass combinationally."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.conversion.entity import Bit


@block
def stream_skid(clk: Bit, clear: Bit, sink: Stream, source: Stream) -> Any:
    """Pass words on in the cycle in which they arrive, and keep a word that is not taken then.

    clear         in       drop the kept word
    sink, source  in, out  words; ready does not pass combinationally from one side to the other

    If latency does not matter, use ``stream_slice``, which registers valid and data, too. Latency:
    none. Throughput: a word per cycle. Reset: none, begin with clear.
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
