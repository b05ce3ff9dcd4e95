"""Hold back a stream until it is enabled."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import Stream
from merp.hdl.conversion.entity import Bit


@block
def open_stream(sink: Stream, enable: Bit, source: Stream) -> Any:
    """Connect two streams while enable is high; no word is counted before the run can start."""

    @always_comb
    def connect() -> None:
        source.data.next = sink.data
        source.last.next = sink.last
        source.valid.next = sink.valid and enable
        sink.ready.next = source.ready and enable

    return connect
