"""Select one of two streams for a run."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import Stream
from merp.hdl.conversion.entity import Bit


@block
def stream_mux(second: Bit, one: Stream, other: Stream, source: Stream) -> Any:
    """Pass on the words of one of two streams, and take none of the other.

    second      in   pass on the words of other; changes after a transfer, or between runs.
    one, other  in   words; keep does not pass through here
    source      out  the words of the selected stream

    Latency: combinational. Throughput: a word per cycle. Reset: none.
    """

    @always_comb
    def choose() -> None:
        one.ready.next = source.ready and not second
        other.ready.next = source.ready and second
        if second:
            source.data.next = other.data
            source.last.next = other.last
            source.valid.next = other.valid
        else:
            source.data.next = one.data
            source.last.next = one.last
            source.valid.next = one.valid

    return choose
