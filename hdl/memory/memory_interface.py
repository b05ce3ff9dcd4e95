"""The streams of an engine, each with a walk of its own, on one AXI4 port to memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import Bundles, Stream, bits, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.arbiter import arbiter
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.mover_ports import (
    MoverCommands,
    MoverState,
    ReadChannels,
    WriteChannels,
)
from merp.hdl.memory.read_mover import read_mover
from merp.hdl.memory.requests import ErrorResponse, WalkConfig
from merp.hdl.memory.write_mover import write_mover
from merp.models.memory.params.commands import TAIL_BITS
from merp.models.memory.params.interface import InterfaceDesign
from merp.models.memory.params.mover import Mover


class MoverControl:
    """Start, stop and state of a mover."""

    def __init__(self, mover: Mover) -> None:
        self.config = WalkConfig(mover)
        self.start = flag()  # begin the walk; allowed while finished and idle, or after clear
        self.stop = flag()  # no new burst is requested, or no word taken: idle follows
        self.clear = flag()  # drop the rest of a walk; allowed while idle
        self.finished = flag()  # the last word of the walk has moved
        self.idle = flag()  # memory owes nothing
        self.error = ErrorResponse(mover.port)

    @property
    def commands(self) -> MoverCommands:
        """Return the commands that the mover itself takes."""
        return MoverCommands(start=self.start, stop=self.stop)

    @property
    def state(self) -> MoverState:
        """Return the progress and the first error of the mover."""
        return MoverState(finished=self.finished, idle=self.idle, error=self.error)


class ReadPort(MoverControl):
    """A stream that is read from memory."""

    def __init__(self, mover: Mover) -> None:
        super().__init__(mover)
        self.tail = bits(TAIL_BITS)  # bytes of the last word that count; 0: all of them
        self.source = Stream(mover.word_bits)


class WritePort(MoverControl):
    """A stream that is written to memory."""

    def __init__(self, mover: Mover) -> None:
        super().__init__(mover)
        self.sink = Stream(mover.word_bits)


@block
def _cleared(rst: Bit, clear: Bit, cleared: Bit) -> Any:
    """Reset a mover by rst and by clear."""

    @always_comb
    def join() -> None:
        cleared.next = rst or clear

    return join


def ports_of(design: InterfaceDesign) -> Bundles:
    """Return the ports of all streams, by name."""
    reads = {name: ReadPort(mover) for name, mover in design.readers}
    return Bundles(reads | {name: WritePort(mover) for name, mover in design.writers})


def _every(channels: Mapping[str, ReadChannels | WriteChannels], name: str) -> Bundles:
    """Return one of the channels of all movers, by the name of the mover."""
    return Bundles({mover: getattr(each, name) for mover, each in channels.items()})


@entity
def memory_interface(
    clk: Bit, rst: Bit, streams: Bundles, m_axi: Axi4, design: InterfaceDesign
) -> Any:
    """Move the words of all streams between an engine and memory.

    streams  in   of each stream start, walk, words and state
    m_axi    out  the port

    A stream that is stopped becomes idle: every beat that it requested has arrived, or there is a
    response for each burst that it wrote. Latency: as read_mover, write_mover and arbiter.
    Throughput: a beat of each direction per cycle. Reset: no stream moves; allowed only while all
    are idle.
    """
    port = design.port
    reads = {name: ReadChannels(port) for name, _ in design.readers}
    writes = {name: WriteChannels(port) for name, _ in design.writers}

    movers: list[Any] = []
    for name, mover in design.readers:
        read = getattr(streams, name)
        cleared = flag()
        movers += [
            _cleared(rst, clear=read.clear, cleared=cleared),
            read_mover(
                clk, cleared, commands=read.commands, config=read.config, channels=reads[name],
                source=read.source, state=read.state, mover=mover,
            ),
        ]  # fmt: skip
    for name, mover in design.writers:
        write = getattr(streams, name)
        cleared = flag()
        movers += [
            _cleared(rst, clear=write.clear, cleared=cleared),
            write_mover(
                clk, cleared, commands=write.commands, config=write.config, sink=write.sink,
                channels=writes[name], state=write.state, mover=mover,
            ),
        ]  # fmt: skip
    return movers, arbiter(
        clk, rst, read_requests=_every(reads, "requests"), read_beats=_every(reads, "beats"),
        write_requests=_every(writes, "requests"), write_beats=_every(writes, "beats"),
        write_responses=_every(writes, "responses"), m_axi=m_axi, port=port,
    )  # fmt: skip
