"""Report the state of a list to the host."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.conversion.entity import Bit
from merp.hdl.memory.processor_ports import ListControl, ProcessorStatus, StreamControl
from merp.hdl.memory.processor_state import (
    CLEAR,
    IDLE,
    INTERRUPT,
    NONE,
    SEND,
    WAITING,
    DecodedCommand,
    PlayedCommand,
    PlayState,
)


@block
def list_status(
    clk: Bit,
    rst: Bit,
    host: ListControl,
    play: PlayState,
    decoded: DecodedCommand,
    command: PlayedCommand,
    streams: StreamControl,
    status: ProcessorStatus,
) -> Any:
    """Count commands, and keep the end of the list and the streams of a wait.

    host     in   start of a list
    play     in   state of the list
    decoded  in   a command that begins
    command  in   mask of a wait
    streams  in   the walks that have ended
    status   out  state of the processor, without the load of a bitstream

    Latency: one cycle. Reset: no list has been played.
    """
    state, mask, n_streams = play.state, command.mask, len(streams.done)
    of_records = 1 << n_streams - 1

    @always_comb
    def tell() -> None:
        status.busy.next = state != IDLE

    @always(clk.posedge)
    def keep() -> None:
        status.interrupt.next = False
        if state == IDLE:
            if host.start:
                status.commands.next = 0
                status.waiting.next = 0
                status.failure.next = NONE
                status.done.next = False
        elif play.failing:
            if state == WAITING:
                status.waiting.next = mask[n_streams:] & ~streams.done
            elif state == SEND:
                status.waiting.next = of_records
        elif play.begins:
            status.commands.next = status.commands + 1
            status.interrupt.next = decoded.legal and decoded.operation == INTERRUPT
        elif state == WAITING:
            status.waiting.next = mask[n_streams:] & ~streams.done
        elif state == CLEAR:
            status.done.next = True
            status.failure.next = play.failed
            status.interrupt.next = True
        if rst:
            status.interrupt.next = False
            status.done.next = False
            status.failure.next = NONE
            status.waiting.next = 0

    return tell, keep
