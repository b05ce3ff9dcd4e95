"""An accelerator that breaks a rule of AXI4, to test the monitor of a board."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.axi.axi_lite import AxiLite, RegisterRead, RegisterWrite, axi_lite
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.axi4 import Axi4
from merp.models.memory.params.memory_port import MemoryPort

START = 0
"""Offset of the only register: the number of a rule, from 1 on, or 0 for a legal read."""

CYCLES = 400
"""From the start to the interrupt."""

BEATS = 64


def arguments(port: MemoryPort) -> dict[str, Any]:
    """The arguments of a rule breaker."""
    return {
        "clk": flag(), "rst": flag(), "s_axi": AxiLite(), "m_axi": Axi4(port),
        "interrupt": flag(), "port": port,
    }  # fmt: skip


@entity
def rule_breaker(
    clk: Bit, rst: Bit, s_axi: AxiLite, m_axi: Axi4, interrupt: Bit, port: MemoryPort
) -> Any:
    """Request bursts without an end, and break one rule with them.

    s_axi      in   a write of a rule's number starts
    m_axi      out  memory
    interrupt  out  some cycles later

    Reset: nothing is requested.
    """
    write, read = RegisterWrite(), RegisterRead()
    rule, cycle, running, beat = bits(3), bits(9), flag(), bits(6)
    size, whole, beats, last_cycle = (
        port.beat_bytes,
        port.beat_bytes.bit_length() - 1,
        BEATS,
        CYCLES,
    )

    @always_comb
    def request() -> None:
        reads = rule == 0 or rule == 1 or rule == 4 or rule == 5
        m_axi.arvalid.next = running and reads
        m_axi.awvalid.next = running and not reads
        m_axi.arid.next = 0
        m_axi.awid.next = 0
        m_axi.arlen.next = beats - 1
        m_axi.awlen.next = beats - 1
        m_axi.arsize.next = whole
        m_axi.awsize.next = whole
        m_axi.arburst.next = 1
        m_axi.awburst.next = 1
        m_axi.araddr.next = 0
        m_axi.awaddr.next = 0
        if rule == 1 and cycle[0]:
            m_axi.araddr.next = 4096
        if rule == 2 and cycle[0]:
            m_axi.awaddr.next = 4096
        if rule == 4:
            m_axi.araddr.next = 4096 - size
        if rule == 5:
            m_axi.arsize.next = whole - 1

    @always_comb
    def send() -> None:
        m_axi.wvalid.next = running and m_axi.awvalid
        m_axi.wdata.next = 0
        m_axi.wstrb.next = 0
        m_axi.wlast.next = beat == beats - 1
        if rule == 3 and cycle[0]:
            m_axi.wstrb.next = 1
        if rule == 6:
            m_axi.wlast.next = beat == 1
        m_axi.rready.next = True
        m_axi.bready.next = True
        read.word.next = 0

    @always(clk.posedge)
    def run() -> None:
        if m_axi.wvalid and m_axi.wready:
            if m_axi.wlast:
                beat.next = 0
            else:
                beat.next = beat + 1
        if running:
            cycle.next = cycle + 1
            if cycle == last_cycle:
                running.next = False
                interrupt.next = True
        if write.enable:
            rule.next = write.data[3:]
            running.next = True
            cycle.next = 0
        if rst:
            running.next = False
            interrupt.next = False
            cycle.next = 0
            beat.next = 0

    return (
        request, send, run,
        axi_lite(
            clk, rst, s_axi=s_axi, write=write, read=read, words=1, first_writable=0,
            last_writable=0,
        ),
    )  # fmt: skip
