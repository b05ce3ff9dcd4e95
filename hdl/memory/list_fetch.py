"""Fetch the words of a list, and go on with another list."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, concat, intbv

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit
from merp.hdl.memory.processor_ports import ListPorts
from merp.hdl.memory.processor_state import (
    CLEAR,
    IDLE,
    JUMP,
    REFETCH,
    STOPPED,
    PlayedCommand,
    PlayState,
)
from merp.models.base.register_map import WORD_MAX
from merp.models.memory.params.commands import WORD


@block
def list_fetch(
    clk: Bit,
    rst: Bit,
    lists: ListPorts,
    play: PlayState,
    command: PlayedCommand,
    address_bits: int,
) -> Any:
    """Start the reader of the list, and count the words that are left.

    lists    out  the reader; in: the list of the host, and its words
    play     in   state of the list; out: left
    command  in   place and words of a jump

    Latency: the reader starts in the cycle after the host, and after a jump once it is idle. Reset:
    it does not start.
    """
    host, fetch, commands = lists.host, lists.fetch, lists.commands
    state, left, low, high = play.state, play.left, command.low, command.high
    base_bits, high_bits = address_bits - 2, address_bits - WORD
    length_bits = min(base_bits, WORD)
    target = bits(base_bits)  # of a jump, in words

    if base_bits < WORD:

        @always_comb
        def join() -> None:
            target.next = low[:2]

    else:

        @always_comb
        def join() -> None:
            target.next = concat(high[high_bits:], low[WORD:2])

    @always_comb
    def stop() -> None:
        fetch.stop.next = state[STOPPED]
        fetch.clear.next = state == CLEAR or (state == REFETCH and fetch.idle)

    @always(clk.posedge)
    def start() -> None:
        behind = intbv(0)[WORD + 1 :]
        fetch.start.next = False
        if state == IDLE:
            if host.start:
                fetch.base.next = host.base
                behind[:] = host.words + WORD_MAX
                fetch.length.next = behind[length_bits:]
                fetch.start.next = host.words != 0
        elif state == REFETCH and fetch.idle and not play.failing:
            fetch.base.next = target
            behind[:] = left + WORD_MAX
            fetch.length.next = behind[length_bits:]
            fetch.start.next = left != 0
        if rst:
            fetch.start.next = False

    @always(clk.posedge)
    def count() -> None:
        if state == IDLE:
            if host.start:
                left.next = host.words
        elif not play.failing:
            if play.begins:
                left.next = left - 1
            elif play.continues:
                left.next = left - 1
                if command.op == JUMP and command.ending:
                    left.next = commands.data

    return join, stop, start, count
