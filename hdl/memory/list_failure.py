"""Watch for failures that may end a list at any time."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import Stream
from merp.hdl.conversion.entity import Bit
from merp.hdl.memory.processor_ports import ListPorts, StreamControl
from merp.hdl.memory.processor_state import (
    ABORTED,
    COMMAND,
    IDLE,
    MEMORY,
    NONE,
    REFETCH,
    SEND,
    SHORT,
    TIME,
    WAITING,
    WORDS,
    PlayedCommand,
    PlayState,
)


@block
def list_failure(
    clk: Bit,
    rst: Bit,
    lists: ListPorts,
    play: PlayState,
    command: PlayedCommand,
    streams: StreamControl,
    records: Stream,
    fails: Bit,
) -> Any:
    """Detect the reason to end the list, and keep an abort by the host.

    lists    in   abort by the host, and an error of the reader
    play     in   state of the list; out: reason and aborted
    command  in   limit and over
    streams  in   an error of a stream
    records  in   ready: the record finds a place
    fails    out  the list ends in this cycle

    Latency: combinational; one cycle from the abort. Reset: no abort.
    """
    host, fetch = lists.host, lists.fetch
    state, left, reason, aborted = play.state, play.left, play.reason, play.aborted
    limit, over = command.limit, command.over

    @always_comb
    def watch() -> None:
        reason.next = NONE
        if aborted:
            reason.next = ABORTED
        elif fetch.failed or streams.failed:
            reason.next = MEMORY
        elif (state == COMMAND or state == WORDS) and left == 0:
            reason.next = SHORT
        elif limit == 0 and state == WAITING and not over:
            reason.next = TIME
        elif limit == 0 and state == SEND and not records.ready:
            reason.next = TIME
        fails.next = reason != NONE and state in (COMMAND, WORDS, SEND, WAITING, REFETCH)

    @always(clk.posedge)
    def keep() -> None:
        if state == IDLE:
            aborted.next = False
        elif host.abort:
            aborted.next = True
        if rst:
            aborted.next = False

    return watch, keep
