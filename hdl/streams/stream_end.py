"""Detect the end of a stream."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import AxiStream
from merp.hdl.conversion.entity import Bit


@block
def stream_end(stream: AxiStream, ends: Bit) -> Any:
    """Detect that the last word of a monitored stream is transferred in this cycle."""

    @always_comb
    def recognise() -> None:
        ends.next = stream.tvalid and stream.tready and stream.tlast

    return recognise
