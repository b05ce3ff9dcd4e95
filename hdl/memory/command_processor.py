"""Play lists of commands from memory: set registers and walks, start them, wait, record."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.signals import Stream, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.command_decode import command_decode
from merp.hdl.memory.command_operands import command_operands
from merp.hdl.memory.command_sequence import command_sequence
from merp.hdl.memory.command_wait import command_wait
from merp.hdl.memory.list_end import list_end
from merp.hdl.memory.list_failure import list_failure
from merp.hdl.memory.list_fetch import list_fetch
from merp.hdl.memory.list_status import list_status
from merp.hdl.memory.load_command import load_command
from merp.hdl.memory.processor_ports import (
    EngineAccess,
    ListPorts,
    ProcessorStatus,
    StreamControl,
    WalkWrite,
)
from merp.hdl.memory.processor_state import (
    SEND,
    DecodedCommand,
    ListEnd,
    PlayedCommand,
    PlayState,
)
from merp.hdl.memory.register_commands import register_commands
from merp.hdl.memory.walk_commands import walk_commands
from merp.models.memory.params.commands import ProcessorDesign


@entity
def command_processor(
    clk: Bit,
    rst: Bit,
    lists: ListPorts,
    engines: EngineAccess,
    streams: StreamControl,
    walk: WalkWrite,
    records: Stream,
    status: ProcessorStatus,
    design: ProcessorDesign,
) -> Any:
    """Play a list of commands, one after the other, to its end or to a failure.

    host       in   start and place of a list; end of a list by the host
    fetch       out  the reader of the list
    commands    in   the words of the list
    access      out  accesses of registers of engines
    interrupts  in   of each engine; bit i is engine i
    streams     out  the walks of all streams
    walk        out  writes of walks
    records     out  the words of recorded registers
    status      out  state of the processor

    After a failure, and after the end of a list, memory owes nothing to any stream and no walk goes
    on. After a failure every engine is aborted as well. Then the next list can start. Latency: a
    command takes one cycle for each of its words, and an access of a register some more.
    Reset: no list; allowed only while memory owes nothing.
    """
    commands, access = lists.commands, engines.access
    play, decoded, command, end = PlayState(), DecodedCommand(), PlayedCommand(), ListEnd()
    fails, load = play.failing, ()
    if status.loads:
        fails = flag()  # failing, without loads
        load = load_command(
            clk, rst, commands=commands, play=play, command=command, fails=fails, status=status
        )

    @always_comb
    def send() -> None:
        records.data.next = access.word
        records.valid.next = play.state == SEND
        records.last.next = False

    return (
        send, load,
        command_decode(
            commands.data, decoded=decoded, streams=design.streams, engines=design.engines,
            loads=status.loads,
        ),
        list_fetch(
            clk, rst, lists=lists, play=play, command=command, address_bits=design.address_bits
        ),
        command_operands(clk, commands.data, play=play, decoded=decoded, command=command),
        command_sequence(
            clk, rst, lists=lists, engines=engines, records=records, play=play, decoded=decoded,
            command=command, end=end,
        ),
        command_wait(
            clk, commands.data, play=play, command=command, engines=engines, streams=streams,
            records=records, record_cycles=design.record_cycles,
        ),
        list_end(
            clk, lists=lists, engines=engines, play=play, streams=streams, end=end,
            last_engine=design.engines - 1,
        ),
        list_failure(
            clk, rst, lists=lists, play=play, command=command, streams=streams, records=records,
            fails=fails,
        ),
        list_status(
            clk, rst, host=lists.host, play=play, decoded=decoded, command=command,
            streams=streams, status=status,
        ),
        register_commands(
            clk, rst, commands.data, play=play, decoded=decoded, command=command, end=end,
            access=access,
        ),
        walk_commands(
            clk, rst, commands=commands, play=play, decoded=decoded, command=command,
            streams=streams, walk=walk,
        ),
    )  # fmt: skip
