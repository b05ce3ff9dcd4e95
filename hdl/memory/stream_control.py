"""Connect the command processor with the mover of one stream."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.memory_interface import MoverControl
from merp.hdl.memory.processor_ports import StreamControl


@entity
def stream_control(
    streams: StreamControl, mover: MoverControl, done: Bit, idle: Bit, stream: int
) -> Any:
    """Start, stop and clear a mover, and hand on its state.

    streams  in   commands to all streams
    mover    out  commands to the mover; in: its state
    done     out  its walk has ended, and memory owes nothing
    idle     out  memory owes nothing

    Latency: combinational.
    """

    @always_comb
    def connect() -> None:
        mover.start.next = streams.start[stream]
        mover.stop.next = streams.stop
        mover.clear.next = streams.clear
        done.next = mover.finished and mover.idle
        idle.next = mover.idle

    return connect
