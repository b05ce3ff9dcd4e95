"""Set, start and stop the walks of streams."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import Stream
from merp.hdl.conversion.entity import Bit
from merp.hdl.memory.processor_ports import StreamControl, WalkWrite
from merp.hdl.memory.processor_state import (
    CLEAR,
    REFETCH,
    START,
    STOPPED,
    WALK,
    WORDS,
    DecodedCommand,
    PlayedCommand,
    PlayState,
)


@block
def walk_commands(
    clk: Bit,
    rst: Bit,
    commands: Stream,
    play: PlayState,
    decoded: DecodedCommand,
    command: PlayedCommand,
    streams: StreamControl,
    walk: WalkWrite,
) -> Any:
    """Write the words of walks, start the walks of a mask, and stop all at the end of a list.

    commands  in   the words of the list
    play      in   state of the list
    decoded   in   beyond: a stream of the mask does not exist, so no walk starts
    command   in   the command that is played
    streams   out  start, stop and clear
    walk      out  writes of walks

    Latency: combinational; one cycle to a start. Reset: no walk starts.
    """
    state, n_streams = play.state, len(streams.start)

    @always_comb
    def write() -> None:
        walk.stream.next = command.place[len(walk.stream) :]
        walk.index.next = command.number[len(walk.index) :]
        walk.data.next = commands.data
        walk.enable.next = play.takes and commands.valid and state == WORDS and command.op == WALK

    @always_comb
    def stop() -> None:
        streams.stop.next = state[STOPPED] and state != REFETCH
        streams.clear.next = state == CLEAR

    @always(clk.posedge)
    def start() -> None:
        streams.start.next = 0
        if play.continues and command.op == START and not decoded.beyond and not play.failing:
            streams.start.next = commands.data[n_streams:]
        if rst:
            streams.start.next = 0

    return write, stop, start
