"""Read the words of a list from memory, from the place that the host names."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block, concat

from merp.hdl.axi.axi_registers import RunControl
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit
from merp.hdl.memory.memory_interface import ReadPort
from merp.hdl.memory.processor_ports import ListPorts
from merp.hdl.streams.stream_slice import stream_slice
from merp.models.memory.params.commands import WORD
from merp.models.memory.params.subsystem import SubsystemDesign


class ListSettings:
    """Registers of the host that name a list."""

    def __init__(self, design: SubsystemDesign) -> None:
        self.low = bits(WORD)  # byte address of the list, its bits 31 to 0
        self.high = bits(max(1, design.port.address_bits - WORD))  # its other bits
        self.words = bits(WORD)  # words of the list


@block
def list_reader(
    clk: Bit,
    rst: Bit,
    runs: RunControl,
    settings: ListSettings,
    lists: ListPorts,
    mover: ReadPort,
    address_bits: int,
) -> Any:
    """Connect a command processor with the list of the host, and with the mover that reads it.

    runs      in   start and abort by the host
    settings  in   place and length of the list
    lists     out  host, state of the reader, words; in: commands to the reader
    mover     out  the mover of the list

    Latency: a word comes one cycle after the mover sends it. Reset: no word.
    """
    host, fetch, commands = lists.host, lists.fetch, lists.commands
    high_bits = address_bits - WORD
    dropped = flag()

    if high_bits:

        @always_comb
        def place() -> None:
            host.base.next = concat(settings.high[high_bits:], settings.low[WORD:2])

    else:

        @always_comb
        def place() -> None:
            host.base.next = settings.low[:2]

    @always_comb
    def command() -> None:
        host.start.next = runs.start
        host.abort.next = runs.abort
        host.words.next = settings.words
        mover.start.next = fetch.start
        mover.stop.next = fetch.stop
        mover.clear.next = fetch.clear
        mover.config.base.next = fetch.base
        mover.config.length.next = fetch.length
        fetch.idle.next = mover.idle
        fetch.failed.next = mover.error.found
        dropped.next = rst or fetch.clear

    return (
        place, command,
        stream_slice(
            clk, dropped, data=mover.source.data, valid=mover.source.valid,
            ready=mover.source.ready, held=commands.data, held_valid=commands.valid,
            held_ready=commands.ready,
        ),
    )  # fmt: skip
