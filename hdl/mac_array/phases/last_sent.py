"""Whether the last word of a stream has left."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import AxiStream, flag
from merp.hdl.conversion.entity import Bit


@block
def last_sent(clk: Bit, rst: Bit, start: Bit, stream: AxiStream, sent: Bit) -> Any:
    """Tell from the transfer of the last word on, until start.

    stream  in   is only listened to
    sent    out  the last word is transferred in this cycle, or was before
    """
    before = flag()

    @always_comb
    def tell() -> None:
        sent.next = before or (stream.tvalid and stream.tready and stream.tlast)

    @always(clk.posedge)
    def keep() -> None:
        before.next = sent
        if start or rst:
            before.next = False

    return tell, keep
