"""Keep the operands of a command."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.conversion.entity import Bit, Word
from merp.hdl.memory.processor_state import (
    EXPECT,
    JUMP,
    WRITE,
    DecodedCommand,
    PlayedCommand,
    PlayState,
)


@block
def command_operands(
    clk: Bit, word: Word, play: PlayState, decoded: DecodedCommand, command: PlayedCommand
) -> Any:
    """Keep operation, place and words of a command, and count its words or registers.

    word     in   a word of the list
    play     in   state of the list
    decoded  in   the word as the first one of a command
    command  out  the command, without the operands of a wait

    Latency: one cycle. Reset: none, a command sets its operands.
    """
    more, place, number = command.more, command.place, command.number

    @always_comb
    def compare() -> None:
        command.ending.next = more == 1

    @always(clk.posedge)
    def keep() -> None:
        if not play.failing:
            if play.begins:
                command.op.next = decoded.operation
                more.next = decoded.words
                place.next = decoded.first
                number.next = 0
            elif play.continues:
                more.next = more - 1
                number.next = number + 1
                if command.op == WRITE:
                    place.next = place + 1
                elif command.op == EXPECT or (command.op == JUMP and number == 0):
                    command.low.next = word
                elif command.op == JUMP and number == 1:
                    command.high.next = word
            elif play.sends:
                more.next = more - 1
                if not command.ending:
                    place.next = place + 1

    return compare, keep
