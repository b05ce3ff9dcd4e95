"""Everything between the engines and memory: command processor, movers, port, registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from myhdl import ConcatSignal, always, always_comb, block, concat, intbv

from merp.hdl.axi.axi_lite import AxiLite, RegisterRead, RegisterWrite, axi_lite
from merp.hdl.axi.axi_registers import RunControl, axi_registers
from merp.hdl.axi.lite_manager import RegisterAccess, lite_manager
from merp.hdl.base.signals import Bundles, Stream, bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.bitstream_loader import BitstreamLoad, LoaderPorts, bitstream_loader
from merp.hdl.memory.command_processor import command_processor
from merp.hdl.memory.memory_interface import MoverControl, memory_interface, ports_of
from merp.hdl.memory.processor_ports import (
    ListControl,
    ListFetch,
    ProcessorStatus,
    StreamControl,
    WalkWrite,
)
from merp.hdl.memory.requests import ErrorResponse
from merp.hdl.memory.stream_control import stream_control
from merp.hdl.memory.tail_keep import tail_keep
from merp.hdl.memory.walk_registers import walk_registers
from merp.hdl.streams.stream_slice import stream_slice
from merp.models.base.register_map import FLAGS, RegisterMap
from merp.models.memory.params.commands import WORD
from merp.models.memory.params.subsystem import (
    LIST,
    RECORDS,
    STATUS_BITS,
    SubsystemDesign,
)


class ListSettings:
    """Registers of the host that name a list."""

    def __init__(self, design: SubsystemDesign) -> None:
        self.low = bits(WORD)  # byte address of the list, its bits 31 to 0
        self.high = bits(max(1, design.port.address_bits - WORD))  # its other bits
        self.words = bits(WORD)  # words of the list


class SubsystemStatus:
    """Status that the host reads: the flags of every top, and the counters of a design."""

    def __init__(self, design: SubsystemDesign) -> None:
        vars(self).update({name: flag() for name in FLAGS})
        vars(self).update({name: bits(STATUS_BITS) for name in design.status})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the signal of a flag or a counter."""


@block
def _error_of(error: ErrorResponse, failed: Bit, address: Word) -> Any:
    """Hand on the error of a mover."""

    @always_comb
    def hand_on() -> None:
        failed.next = error.found
        address.next = error.address

    return hand_on


@block
def _states(
    clk: Bit,
    rst: Bit,
    begin: Bit,
    done: Sequence[Any],
    idle: Sequence[Any],
    failed: Sequence[Any],
    addresses: Sequence[Any],
    streams: StreamControl,
    status: SubsystemStatus,
    shift: int,
) -> Any:
    """Join the states of all streams, and keep the first error."""
    size, everywhere = len(failed), (1 << len(idle)) - 1
    all_done, all_idle = ConcatSignal(*reversed(done)), ConcatSignal(*reversed(idle))
    any_failed = ConcatSignal(*reversed(failed))
    told = flag()

    @always(clk.posedge)
    def follow() -> None:
        streams.done.next = all_done

    @always_comb
    def join() -> None:
        streams.idle.next = all_idle == everywhere
        streams.failed.next = any_failed != 0

    @always(clk.posedge)
    def keep() -> None:
        if not told:
            for i in range(size):
                if failed[i]:
                    told.next = True
                    status.error_stream.next = i
                    status.error_address.next = concat(addresses[i], intbv(0)[shift:])
        if begin or rst:
            told.next = False
            status.error_stream.next = 0
            status.error_address.next = 0

    return follow, join, keep


@entity
def memory_subsystem(
    clk: Bit,
    rst: Bit,
    s_axi: AxiLite,
    streams: Bundles,
    engines: Bundles,
    interrupts: Word,
    m_axi: Axi4,
    loader: LoaderPorts,
    interrupt: Bit,
    registers: RegisterMap,
    design: SubsystemDesign,
) -> Any:
    """Run engines by lists of commands in memory.

    s_axi       in   AXI4-Lite access of the host to the registers
    streams     out  of each engine, the streams that it reads and writes
    engines     out  AXI4-Lite access to the registers of each engine
    interrupts  in   of each engine; bit i is engine i
    m_axi       out  the port to memory
    icap        out  the ports of ICAPE2
    interrupt   out  high while the interrupt is enabled and pending

    Reset: no list, and registers at their reset values; reset engines and memory as well.
    """
    port, names = design.port, list(design.numbers)
    write, read = RegisterWrite(), RegisterRead()
    runs = RunControl(flag(), flag(), flag())
    settings, told = ListSettings(design), SubsystemStatus(design)
    processor = design.processor
    host, fetch = ListControl(processor), ListFetch(processor)
    control, walks, status = (
        StreamControl(processor),
        WalkWrite(processor),
        ProcessorStatus(processor),
    )
    access = RegisterAccess()
    ports = ports_of(design.interface)
    listed, recorded = getattr(ports, LIST), getattr(ports, RECORDS)
    for name, _ in design.readers:
        getattr(ports, name).source = getattr(streams, name)
    for name, _ in design.writers:
        getattr(ports, name).sink = getattr(streams, name)
    movers: list[MoverControl] = [getattr(ports, name) for name in names]
    done, idle = [flag() for _ in names], [flag() for _ in names]
    every = [*movers, listed]
    failed = [flag() for _ in every]
    addresses = [bits(port.beat_address_bits) for _ in every]
    high_bits = design.port.address_bits - WORD
    commands, dropped = Stream(WORD), flag()  # words of the list

    loads: list[Any] = []
    busy, ended, interrupting = status.busy, status.done, status.interrupt
    if status.loads:

        @always_comb
        def tell_load() -> None:
            told.load.next = status.load
            told.bitstream.next = status.bitstream

        loads.append(tell_load)
    if loader.has("icap"):
        busy, ended, interrupting, sending = (flag() for _ in range(4))

        @always_comb
        def hold() -> None:
            """End the list, for the host, after its load has been sent."""
            busy.next = status.busy or sending
            ended.next = status.done and not sending
            interrupting.next = status.interrupt and not sending

        loads += [
            hold,
            bitstream_loader(
                clk, rst, load=BitstreamLoad(status.load_begins, status.bitstream),
                idle=control.idle, busy=sending, icap=loader.icap,
            ),
        ]  # fmt: skip

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
        listed.start.next = fetch.start
        listed.stop.next = fetch.stop
        listed.clear.next = fetch.clear
        listed.config.base.next = fetch.base
        listed.config.length.next = fetch.length
        fetch.idle.next = listed.idle
        fetch.failed.next = listed.error.found
        dropped.next = rst or fetch.clear

    @always_comb
    def tell() -> None:
        told.busy.next = busy
        told.done.next = ended or interrupting
        told.commands.next = status.commands
        told.failure.next = status.failure
        told.waiting.next = status.waiting

    @always(clk.posedge)
    def tally() -> None:
        if runs.start:
            told.cycles.next = 0
        elif status.busy:
            told.cycles.next = told.cycles + 1

    return (
        place, command, tell, tally, loads,
        axi_lite(
            clk, rst, s_axi=s_axi, write=write, read=read, words=len(registers.registers),
            first_writable=registers.first_writable, last_writable=registers.first_counter - 1,
        ),
        axi_registers(
            clk, rst, write=write, read=read, runs=runs,
            settings=Bundles({"list": settings}), status=told, interrupt=interrupt,
            registers=registers,
        ),
        stream_slice(
            clk, dropped, data=listed.source.data, valid=listed.source.valid,
            ready=listed.source.ready, held=commands.data, held_valid=commands.valid,
            held_ready=commands.ready,
        ),
        command_processor(
            clk, rst, host=host, fetch=fetch, commands=commands, access=access,
            interrupts=interrupts, streams=control, walk=walks, records=recorded.sink,
            status=status, design=processor,
        ),
        lite_manager(clk, rst, access=access, engines=engines),
        [
            walk_registers(
                clk, write=walks, config=each.config, stream=at, tail=vars(each).get("tail")
            )
            for at, each in enumerate(movers)
        ],
        [
            tail_keep(stream=each.source, tail=each.tail, keep=each.source.keep)
            for each in (getattr(ports, name) for name, _ in design.readers)
            if each.source.keep is not None
        ],
        [
            stream_control(
                streams=control, mover=each, done=done[at], idle=idle[at], stream=at
            )
            for at, each in enumerate(movers)
        ],
        [
            _error_of(each.error, failed[at], addresses[at])
            for at, each in enumerate(every)
        ],
        _states(
            clk, rst, begin=runs.start, done=done, idle=idle, failed=failed,
            addresses=addresses, streams=control, status=told,
            shift=port.address_bits - port.beat_address_bits,
        ),
        memory_interface(clk, rst, streams=ports, m_axi=m_axi, design=design.interface),
    )  # fmt: skip
