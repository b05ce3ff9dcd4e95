"""End a list: wait until memory owes nothing, and abort all engines after a failure."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import count
from merp.hdl.conversion.entity import Bit
from merp.hdl.memory.processor_ports import EngineAccess, ListPorts, StreamControl
from merp.hdl.memory.processor_state import ABORT, NONE, SETTLE, STOP, ListEnd, PlayState
from merp.models.base.register_map import ABORT_CYCLES

SETTLE_CYCLES = ABORT_CYCLES + 8
"""Cycles after the abort of the last engine, until no engine moves a word."""


@block
def list_end(
    clk: Bit,
    lists: ListPorts,
    engines: EngineAccess,
    play: PlayState,
    streams: StreamControl,
    end: ListEnd,
    last_engine: int,
) -> Any:
    """Follow the end of a list.

    lists    in   the reader is idle
    engines  in   the ends of accesses
    play     in   state of the list
    streams  in   memory owes nothing to any stream
    end      out  progress

    Latency: quiet comes one cycle after memory owes nothing. Reset: none.
    """
    fetch, access, state = lists.fetch, engines.access, play.state
    engine, settled = count(last_engine), count(SETTLE_CYCLES)

    @always_comb
    def tell() -> None:
        end.aborts.next = state == STOP and end.quiet and play.failed != NONE and not play.failing
        end.last_engine.next = engine == last_engine
        end.settled.next = settled == 0

    @always(clk.posedge)
    def progress() -> None:
        end.quiet.next = state == STOP and streams.idle and fetch.idle
        if end.aborts:
            engine.next = 0
        elif state == ABORT:
            if access.done:
                settled.next = SETTLE_CYCLES
                if not end.last_engine:
                    engine.next = engine + 1
        elif state == SETTLE and not end.settled:
            settled.next = settled - 1

    return tell, progress
