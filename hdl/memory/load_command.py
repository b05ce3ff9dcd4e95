"""End a list with the load of a bitstream."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import Stream, flag
from merp.hdl.conversion.entity import Bit
from merp.hdl.memory.processor_ports import ProcessorStatus
from merp.hdl.memory.processor_state import (
    CLEAR,
    LOAD,
    NONE,
    STOP,
    WORDS,
    PlayedCommand,
    PlayState,
)


@block
def load_command(
    clk: Bit,
    rst: Bit,
    commands: Stream,
    play: PlayState,
    command: PlayedCommand,
    fails: Bit,
    status: ProcessorStatus,
) -> Any:
    """Stop after the word of a load; until it begins, failures and aborts prevent it.

    commands  in   the words of the list
    play      in   state of the list; out: failing
    command   in   the command that is played
    fails     in   the list fails in this cycle
    status    out  load, load_begins and bitstream

    Latency: combinational from the state to load_begins. Reset: no load.
    """
    state = play.state
    loading, spoilt, pending = flag(), flag(), flag()

    @always_comb
    def enter() -> None:
        loading.next = play.takes and commands.valid and state == WORDS and command.op == LOAD

    @always_comb
    def disturb() -> None:
        spoilt.next = pending and state == STOP and play.reason != NONE
        play.failing.next = fails or loading or spoilt

    @always_comb
    def begin() -> None:
        status.load_begins.next = pending and state == CLEAR

    @always(clk.posedge)
    def load() -> None:
        if loading:
            pending.next = True
            status.bitstream.next = commands.data
        elif spoilt:
            pending.next = False
        elif state == CLEAR:
            pending.next = False
            status.load.next = pending
        if rst:
            pending.next = False
            status.load.next = False

    return enter, disturb, begin, load
