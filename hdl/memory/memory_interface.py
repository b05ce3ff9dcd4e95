"""The streams of an engine, each with a walk of its own, on one AXI4 port to memory."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.signals import Bundles, Stream, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.arbiter import arbiter
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.read_mover import read_mover
from merp.hdl.memory.requests import (
    ErrorResponse,
    ReadBeats,
    Requests,
    WalkConfig,
    WriteBeats,
    WriteResponses,
)
from merp.hdl.memory.write_mover import write_mover
from merp.models.memory.params.interface import InterfaceDesign
from merp.models.memory.params.mover import Mover


class ReadPort:
    """A stream that is read from memory."""

    def __init__(self, mover: Mover) -> None:
        self.start = flag()  # begin its walk
        self.config = WalkConfig(mover)
        self.source = Stream(mover.word_bits)
        self.idle = flag()  # every beat that was requested has arrived
        self.error = ErrorResponse(mover.port)


class WritePort:
    """A stream that is written to memory."""

    def __init__(self, mover: Mover) -> None:
        self.start = flag()  # begin its walk
        self.config = WalkConfig(mover)
        self.sink = Stream(mover.word_bits)
        self.finished = flag()  # all words of the walk were taken
        self.idle = flag()  # there is a response for each burst of which all words were taken
        self.error = ErrorResponse(mover.port)


def ports_of(design: InterfaceDesign) -> Bundles:
    """Return the ports of all streams, by name."""
    reads = {name: ReadPort(mover) for name, mover in design.readers}
    return Bundles(reads | {name: WritePort(mover) for name, mover in design.writers})


@entity
def memory_interface(
    clk: Bit, rst: Bit, stop: Bit, streams: Bundles, m_axi: Axi4, design: InterfaceDesign
) -> Any:
    """Move the words of all streams between an engine and memory.

    stop     in   request nothing more, and take no word; then every stream becomes idle
    streams  in   of each stream start, walk, words and state
    m_axi    out  the port

    Latency: as read_mover, write_mover and arbiter. Throughput: a beat of each direction per cycle.
    Reset: no stream moves; allowed only while all are idle.
    """
    port = design.port
    asks, gets = (
        {name: kind(port) for name, _ in design.readers} for kind in (Requests, ReadBeats)
    )
    wants, puts = (
        {name: kind(port) for name, _ in design.writers} for kind in (Requests, WriteBeats)
    )
    answers = {name: WriteResponses() for name, _ in design.writers}

    def of(name: str) -> Any:
        return getattr(streams, name)

    return (
        [
            read_mover(
                clk, rst, start=of(name).start, stop=stop, config=of(name).config,
                requests=asks[name], beats=gets[name], source=of(name).source,
                idle=of(name).idle, error=of(name).error, mover=mover,
            )
            for name, mover in design.readers
        ],
        [
            write_mover(
                clk, rst, start=of(name).start, stop=stop, config=of(name).config,
                sink=of(name).sink, requests=wants[name], beats=puts[name],
                responses=answers[name], finished=of(name).finished, idle=of(name).idle,
                error=of(name).error, mover=mover,
            )
            for name, mover in design.writers
        ],
        arbiter(
            clk, rst, read_requests=Bundles(asks), read_beats=Bundles(gets),
            write_requests=Bundles(wants), write_beats=Bundles(puts),
            write_responses=Bundles(answers), m_axi=m_axi, port=port,
        ),
    )  # fmt: skip
