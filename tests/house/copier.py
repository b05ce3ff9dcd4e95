"""A small accelerator for tests of boards: it copies a part of memory, or only reads or writes."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.axi.axi_lite import AxiLite, RegisterRead, RegisterWrite, axi_lite
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.memory_interface import memory_interface, ports_of
from merp.models.memory.params.interface import InterfaceDesign
from merp.models.memory.params.memory_port import MemoryPort
from merp.models.memory.params.mover import Mover

START, SOURCE, DESTINATION, LENGTH, INTERRUPT = range(0, 20, 4)
"""Offsets of the registers: start, byte addresses, words less one, interrupt."""

READ, WRITE, JOIN = 1, 2, 4
"""Bits of START. With JOIN, the words that are read are written; else their numbers are."""

COPY = READ | WRITE | JOIN
REGISTERS = 5


def design_of(port: MemoryPort, word_bits: int, places: int = 128) -> InterfaceDesign:
    """A stream of each direction."""
    mover = Mover(port=port, word_bits=word_bits, places=places)
    return InterfaceDesign(port=port, readers=(("r", mover),), writers=(("w", mover),))


def arguments(design: InterfaceDesign) -> dict[str, Any]:
    """The arguments of a copier."""
    return {
        "clk": flag(), "rst": flag(), "s_axi": AxiLite(), "m_axi": Axi4(design.port),
        "interrupt": flag(), "design": design,
    }  # fmt: skip


@entity
def copier(
    clk: Bit, rst: Bit, s_axi: AxiLite, m_axi: Axi4, interrupt: Bit, design: InterfaceDesign
) -> Any:
    """Copy consecutive words from one place in memory to another.

    s_axi      in   registers: START, SOURCE, DESTINATION, LENGTH, INTERRUPT
    m_axi      out  memory
    interrupt  out  the words are there; a write to INTERRUPT or START ends it

    A start resets the streams, so it is only allowed while they are idle. Reset: nothing moves.
    """
    [(_, mover)] = design.readers
    shift, width = (mover.word_bytes - 1).bit_length(), mover.address_bits
    streams = ports_of(design)
    reads, writes = streams.r, streams.w
    write, read = RegisterWrite(), RegisterRead()
    kinds, begins, starts, clear = bits(3), flag(), flag(), flag()
    source, destination, length = bits(32), bits(32), bits(32)
    running, reading, writing = flag(), flag(), flag()
    number = bits(min(32, mover.word_bits))
    wrap = len(number)

    @always_comb
    def configure() -> None:
        clear.next = rst or begins
        reads.start.next = starts and kinds[0]
        writes.start.next = starts and kinds[1]

    configs = [
        _one_run(place=place, length=length, config=config, shift=shift, width=width)
        for place, config in ((source, reads.config), (destination, writes.config))
    ]

    @always_comb
    def connect() -> None:
        if kinds[2]:
            writes.sink.data.next = reads.source.data
            writes.sink.valid.next = reads.source.valid
            reads.source.ready.next = writes.sink.ready
        else:
            writes.sink.data.next = number
            writes.sink.valid.next = writing
            reads.source.ready.next = True

    @always_comb
    def show() -> None:
        read.word.next = 0
        if read.index == 1:
            read.word.next = source
        elif read.index == 2:
            read.word.next = destination
        elif read.index == 3:
            read.word.next = length
        elif read.index == 4:
            read.word.next = interrupt

    @always(clk.posedge)
    def keep() -> None:
        begins.next = False
        starts.next = begins
        if write.enable:
            if write.index == 0:
                kinds.next = write.data[3:]
                begins.next = True
                running.next = True
                interrupt.next = False
            elif write.index == 1:
                source.next = write.data
            elif write.index == 2:
                destination.next = write.data
            elif write.index == 3:
                length.next = write.data
            else:
                interrupt.next = False
        if starts:
            reading.next = kinds[0]
            writing.next = kinds[1]
        else:
            if reads.source.valid and reads.source.ready and reads.source.last:
                reading.next = False
            if writes.finished and writes.idle:
                writing.next = False
        if running and not (begins or starts or reading or writing):
            running.next = False
            interrupt.next = True
        if rst:
            begins.next = False
            starts.next = False
            running.next = False
            reading.next = False
            writing.next = False
            interrupt.next = False

    @always(clk.posedge)
    def enumerate_words() -> None:
        following = intbv(0)[wrap + 1 :]
        following[:] = number + 1
        if writes.sink.valid and writes.sink.ready:
            number.next = following[wrap:]
        if clear:
            number.next = 0

    return (
        configure, configs, connect, show, keep, enumerate_words,
        axi_lite(
            clk, rst, s_axi=s_axi, write=write, read=read, words=REGISTERS, first_writable=0,
            last_writable=REGISTERS - 1,
        ),
        memory_interface(clk, clear, streams=streams, m_axi=m_axi, design=design),
    )  # fmt: skip


@entity
def _one_run(place: Any, length: Any, config: Any, shift: int, width: int) -> Any:
    """Configure a walk of one run."""

    @always_comb
    def configure() -> None:
        config.base.next = place[:shift]
        config.length.next = length[width:]
        for each in (config.inner, config.second, config.third, config.outer):
            each.more.next = 0
            each.jump.next = 0

    return configure
