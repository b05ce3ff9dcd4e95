"""Access the registers of engines: writes, records, expected values, and aborts."""

from __future__ import annotations

from typing import Any

from myhdl import always, block

from merp.hdl.axi.lite_manager import RegisterAccess
from merp.hdl.conversion.entity import Bit, Word
from merp.hdl.memory.processor_state import (
    ABORT,
    EXPECT,
    RECORD,
    WRITE,
    DecodedCommand,
    ListEnd,
    PlayedCommand,
    PlayState,
)
from merp.models.base.register_map import CONTROL
from merp.models.memory.params.commands import ENGINE

CONTROL_INDEX = 4
"""Index of the register ``control`` of every engine."""

ABORT_BIT = 1 << CONTROL.index("abort")


@block
def register_commands(
    clk: Bit,
    rst: Bit,
    word: Word,
    play: PlayState,
    decoded: DecodedCommand,
    command: PlayedCommand,
    end: ListEnd,
    access: RegisterAccess,
) -> Any:
    """Begin the accesses of a command, and those that abort all engines after a failure.

    word     in   a word of the list
    play     in   state of the list
    decoded  in   the word as the first one of a command
    command  in   the command that is played
    end      in   progress of the end of the list
    access   out  accesses; in: their ends

    Latency: an access begins in the cycle after its word, or after the end of the last one. Reset:
    no access begins.
    """

    @always(clk.posedge)
    def request() -> None:
        access.begin.next = False
        if not play.failing:
            if play.begins:
                if decoded.legal and decoded.operation == RECORD:
                    access.begin.next = True
                    access.writes.next = False
                    access.index.next = decoded.first
            elif play.continues:
                if command.op == WRITE:
                    access.begin.next = True
                    access.writes.next = True
                    access.index.next = command.place
                    access.data.next = word
                elif command.op == EXPECT:
                    access.begin.next = True
                    access.writes.next = False
                    access.index.next = command.place
            elif play.sends:
                if not command.ending:
                    access.begin.next = True
                    access.index.next = command.place + 1
            elif end.aborts:
                access.begin.next = True
                access.writes.next = True
                access.index.next = CONTROL_INDEX
                access.data.next = ABORT_BIT
            elif play.state == ABORT:
                if access.done and not end.last_engine:
                    access.begin.next = True
                    access.index.next = access.index + ENGINE
        if rst:
            access.begin.next = False

    return request
