"""Whether the last word of a stream has left."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import AxiStream, flag
from merp.hdl.conversion.entity import Bit
from merp.hdl.streams.stream_end import stream_end


@block
def last_sent(clk: Bit, rst: Bit, start: Bit, stream: AxiStream, sent: Bit) -> Any:
    """Tell from the transfer of the last word on, until start.

    stream  in   is only listened to
    sent    out  the last word is transferred in this cycle, or was before
    """
    before, ends = flag(), flag()

    @always_comb
    def tell() -> None:
        sent.next = before or ends

    @always(clk.posedge)
    def keep() -> None:
        before.next = sent
        if start or rst:
            before.next = False

    return tell, keep, stream_end(stream=stream, ends=ends)
