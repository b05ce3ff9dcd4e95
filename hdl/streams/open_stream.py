"""A stream that waits at the door."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import Stream
from merp.hdl.conversion.entity import Bit


@block
def open_stream(sink: Stream, enable: Bit, source: Stream) -> Any:
    """Connect two streams while enable is high, so that no run is counted before it can go on."""

    @always_comb
    def connect() -> None:
        source.data.next = sink.data
        source.last.next = sink.last
        source.valid.next = sink.valid and enable
        sink.ready.next = source.ready and enable

    return connect
