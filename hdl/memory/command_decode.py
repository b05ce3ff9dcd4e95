"""Decode the first word of a command, and judge whether the command is legal."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import flag
from merp.hdl.conversion.entity import Word
from merp.hdl.memory.processor_state import (
    END,
    EXPECT,
    INTERRUPT,
    JUMP,
    LOAD,
    RECORD,
    START,
    WAIT,
    WALK,
    WRITE,
    DecodedCommand,
)
from merp.models.memory.params.commands import WALK_WORDS, WORD


@block
def command_decode(
    word: Word, decoded: DecodedCommand, streams: int, engines: int, loads: bool
) -> Any:
    """Split a word into operation, number of words and place, and judge them.

    word     in   a word of the list
    decoded  out  its parts as of the first word of a command; beyond: as of a mask of streams

    Latency: combinational.
    """
    engine_masks = 1 << engines
    operation, words, first = decoded.operation, decoded.words, decoded.first
    fixed = decoded.legal
    look: Any = ()
    allow: Any = ()

    @always_comb
    def decode() -> None:
        operation.next = word[32:24]
        words.next = word[24:16]
        first.next = word[16:]

    if streams < WORD:

        @always_comb
        def look() -> None:
            decoded.beyond.next = word[:streams] != 0

    if loads:
        fixed = flag()  # legal, without loads

        @always_comb
        def allow() -> None:
            decoded.legal.next = fixed or (operation == LOAD and words == 1)

    @always_comb
    def judge() -> None:
        fixed.next = False
        if operation in (END, INTERRUPT):
            fixed.next = words == 0
        elif operation in (WRITE, RECORD):
            fixed.next = words != 0
        elif operation == WALK:
            fixed.next = words == WALK_WORDS and first < streams
        elif operation in (START, EXPECT):
            fixed.next = words == 1
        elif operation == WAIT:
            fixed.next = words == 2 and first < engine_masks
        elif operation == JUMP:
            fixed.next = words == 3

    return decode, look, allow, judge
