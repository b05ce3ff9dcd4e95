"""Wait for streams and engines up to a limit."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import Stream
from merp.hdl.conversion.entity import Bit, Word
from merp.hdl.memory.processor_ports import EngineAccess, StreamControl
from merp.hdl.memory.processor_state import (
    ACCESS,
    RECORD,
    SEND,
    WAIT,
    WAITING,
    PlayedCommand,
    PlayState,
)


@block
def command_wait(
    clk: Bit,
    word: Word,
    play: PlayState,
    command: PlayedCommand,
    engines: EngineAccess,
    streams: StreamControl,
    records: Stream,
    record_cycles: int,
) -> Any:
    """Keep streams and limit of a wait, count its cycles, and detect its end.

    word     in   a word of the list
    play     in   state of the list
    command  out  mask, limit and over
    engines  in   interrupts, and the end of the read of a register that is recorded
    streams  in   the walks that have ended
    records  in   ready: the record finds a place

    Latency: combinational from the ends to over. Reset: none, a command sets mask and limit.
    """
    access, interrupts = engines.access, engines.interrupts
    n_streams, n_engines = len(streams.done), len(interrupts)
    mask, limit, over = command.mask, command.limit, command.over

    @always_comb
    def compare() -> None:
        over.next = (mask[n_streams:] & ~streams.done) == 0 and (
            command.place[n_engines:] & ~interrupts
        ) == 0

    @always(clk.posedge)
    def keep() -> None:
        if not play.failing:
            if play.continues and command.op == WAIT:
                if command.ending:
                    limit.next = word
                else:
                    mask.next = word
            elif play.state == ACCESS:
                if access.done and not access.refused and command.op == RECORD:
                    limit.next = record_cycles
            elif play.state == SEND:
                if not records.ready:
                    limit.next = limit - 1
            elif play.state == WAITING:
                if not over:
                    limit.next = limit - 1

    return compare, keep
