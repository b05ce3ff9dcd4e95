"""Everything between the engines and memory: command processor, movers, port, registers."""

from __future__ import annotations

from typing import Any

from merp.hdl.axi.axi_lite import AxiLite, RegisterRead, RegisterWrite, axi_lite
from merp.hdl.axi.axi_registers import RunControl, axi_registers
from merp.hdl.axi.lite_manager import lite_manager
from merp.hdl.base.interface import GivenPorts, given_all
from merp.hdl.base.signals import Bundles, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.bitstream_loader import LoaderPorts
from merp.hdl.memory.command_processor import command_processor
from merp.hdl.memory.list_reader import ListSettings, list_reader
from merp.hdl.memory.memory_interface import MoverControl, memory_interface, ports_of
from merp.hdl.memory.processor_ports import (
    EngineAccess,
    ListPorts,
    ProcessorStatus,
    StreamControl,
    WalkWrite,
)
from merp.hdl.memory.stream_movers import stream_movers
from merp.hdl.memory.subsystem_status import SubsystemStatus, subsystem_status
from merp.models.base.register_map import RegisterMap
from merp.models.memory.params.subsystem import LIST, RECORDS, SubsystemDesign


class EnginePorts(GivenPorts):
    """Access to the registers of each engine, and the interrupts of all."""

    MEMBERS = given_all(engines=Bundles, interrupts=Word)


@entity
def memory_subsystem(
    clk: Bit,
    rst: Bit,
    s_axi: AxiLite,
    streams: Bundles,
    engines: EnginePorts,
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
    processor = design.processor
    write, read = RegisterWrite(), RegisterRead()
    runs = RunControl(flag(), flag(), flag())
    settings, shown = ListSettings(design), SubsystemStatus(design)
    lists = ListPorts(processor)
    accesses = EngineAccess(processor, interrupts=engines.interrupts)
    control, walks = StreamControl(processor), WalkWrite(processor)
    status = ProcessorStatus(processor)
    ports = ports_of(design.interface)
    listed, recorded = getattr(ports, LIST), getattr(ports, RECORDS)
    for name, _ in design.readers:
        getattr(ports, name).source = getattr(streams, name)
    for name, _ in design.writers:
        getattr(ports, name).sink = getattr(streams, name)
    movers: list[MoverControl] = [getattr(ports, name) for name in design.numbers]

    return (
        axi_lite(
            clk, rst, s_axi=s_axi, write=write, read=read, words=len(registers.registers),
            first_writable=registers.first_writable, last_writable=registers.first_counter - 1,
        ),
        axi_registers(
            clk, rst, write=write, read=read, runs=runs,
            settings=Bundles({"list": settings}), status=shown, interrupt=interrupt,
            registers=registers,
        ),
        list_reader(
            clk, rst, runs=runs, settings=settings, lists=lists, mover=listed,
            address_bits=design.port.address_bits,
        ),
        command_processor(
            clk, rst, lists=lists, engines=accesses, streams=control, walk=walks,
            records=recorded.sink, status=status, design=processor,
        ),
        subsystem_status(
            clk, rst, start=runs.start, idle=control.idle, status=status, shown=shown, loader=loader
        ),
        lite_manager(clk, rst, access=accesses.access, engines=engines.engines),
        stream_movers(
            clk, rst, begin=runs.start, movers=movers, listed=listed, walks=walks,
            streams=control, status=shown, port=design.port,
        ),
        memory_interface(clk, rst, streams=ports, m_axi=m_axi, design=design.interface),
    )  # fmt: skip
