"""The states of a command processor: one command after the other, then the end of the list."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import Stream
from merp.hdl.conversion.entity import Bit
from merp.hdl.memory.processor_ports import EngineAccess, ListPorts
from merp.hdl.memory.processor_state import (
    ABORT,
    ACCESS,
    CLEAR,
    COMMAND,
    END,
    EXPECT,
    IDLE,
    ILLEGAL,
    INTERRUPT,
    NONE,
    RECORD,
    REFETCH,
    REFUSED,
    SEND,
    SETTLE,
    START,
    STOP,
    UNEXPECTED,
    WAIT,
    WAITING,
    WALK,
    WORDS,
    WRITE,
    DecodedCommand,
    ListEnd,
    PlayedCommand,
    PlayState,
)


@block
def command_sequence(
    clk: Bit,
    rst: Bit,
    lists: ListPorts,
    engines: EngineAccess,
    records: Stream,
    play: PlayState,
    decoded: DecodedCommand,
    command: PlayedCommand,
    end: ListEnd,
) -> Any:
    """Lead from command to command, and to the end of the list.

    lists    in   start of a list, its words, and the reader; out: ready of the words
    engines  in   the ends of accesses
    records  in   ready: the record finds a place
    play     out  state of the list; in: failing
    decoded  in   a command that begins
    command  in   the command that is played
    end      in   progress of the end of the list

    Latency: one cycle to the next state. Reset: no list.
    """
    host, fetch, commands, access = lists.host, lists.fetch, lists.commands, engines.access
    state, failed, op = play.state, play.failed, command.op

    @always_comb
    def take() -> None:
        play.takes.next = (
            (state == COMMAND or state == WORDS) and play.left != 0 and not play.aborted
        )
        play.begins.next = state == COMMAND and commands.valid
        play.continues.next = state == WORDS and commands.valid
        play.sends.next = state == SEND and records.ready

    @always_comb
    def accept() -> None:
        commands.ready.next = play.takes

    @always(clk.posedge)
    def step() -> None:
        if state == IDLE:
            if host.start:
                state.next = COMMAND
        elif play.failing:
            failed.next = play.reason
            state.next = STOP
        elif state == COMMAND:
            if play.begins:
                if not decoded.legal:
                    failed.next = ILLEGAL
                    state.next = STOP
                elif decoded.operation == END:
                    failed.next = NONE
                    state.next = STOP
                elif decoded.operation == RECORD:
                    state.next = ACCESS
                elif decoded.operation != INTERRUPT:
                    state.next = WORDS
        elif state == WORDS:
            if play.continues:
                if decoded.beyond and (op == START or (op == WAIT and command.number == 0)):
                    failed.next = ILLEGAL
                    state.next = STOP
                elif op == WRITE or op == EXPECT:
                    state.next = ACCESS
                elif command.ending:
                    if op == WALK or op == START:
                        state.next = COMMAND
                    elif op == WAIT:
                        state.next = WAITING
                    else:
                        state.next = REFETCH
        elif state == ACCESS:
            if access.done:
                if access.refused:
                    failed.next = REFUSED
                    state.next = STOP
                elif op == RECORD:
                    state.next = SEND
                elif op == WRITE and command.more != 0:
                    state.next = WORDS
                elif op == EXPECT and access.word != command.low:
                    failed.next = UNEXPECTED
                    state.next = STOP
                else:
                    state.next = COMMAND
        elif state == SEND:
            if play.sends:
                state.next = ACCESS
                if command.ending:
                    state.next = COMMAND
        elif state == WAITING:
            if command.over:
                state.next = COMMAND
        elif state == REFETCH:
            if fetch.idle:
                state.next = COMMAND
        elif state == STOP:
            if end.quiet:
                state.next = CLEAR
                if failed != NONE:
                    state.next = ABORT
        elif state == ABORT:
            if access.done and end.last_engine:
                state.next = SETTLE
        elif state == SETTLE:
            if end.settled:
                state.next = CLEAR
        else:
            state.next = IDLE
        if rst:
            state.next = IDLE

    return take, accept, step
