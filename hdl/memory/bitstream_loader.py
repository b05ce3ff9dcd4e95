"""Load a bitstream from flash: the warm boot of a 7-series FPGA through its primitive ICAPE2."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.base.signals import BYTE, bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.memory.params.commands import WORD
from merp.models.memory.params.subsystem import Loader, SubsystemDesign

DUMMY, SYNC, NOOP = 0xFFFFFFFF, 0xAA995566, 0x20000000
WRITE_WBSTAR, WRITE_COMMAND, IPROG = 0x30020001, 0x30008001, 0xF

FIRST, LAST = 1, 8
"""Places of the words of a warm boot. Place 0 is the rest, and the last one ends the selection."""


class IcapPins:
    """The ports of the primitive ICAPE2 that are driven."""

    def __init__(self) -> None:
        self.clk = flag()  # its clock, half as fast; data changes as it falls
        self.csib = flag(1)  # low: selected
        self.rdwrb = flag(1)  # low: write
        self.i = bits(WORD)  # a word, its bits swapped within each byte


def _pins(design: SubsystemDesign) -> IcapPins:
    return IcapPins()


def _sends(design: SubsystemDesign) -> bool:
    return design.loader == Loader.ICAPE2


class LoaderPorts(DesignPorts[SubsystemDesign]):
    """The ports of a subsystem through which it loads bitstreams; most designs have none."""

    MEMBERS = (Member("icap", _pins, _sends, kind=IcapPins),)


class BitstreamLoad:
    """The request of a load."""

    def __init__(self, begin: Bit, address: Word) -> None:
        self.begin = begin  # pulse: load the bitstream; without effect while busy
        self.address = address  # word for WBSTAR, constant until busy falls


@entity
def bitstream_loader(
    clk: Bit, rst: Bit, load: BitstreamLoad, idle: Bit, busy: Bit, icap: IcapPins
) -> Any:
    """Send the words of a warm boot to the primitive ICAPE2, once memory owes nothing.

    load  in   request of a load
    idle  in   memory owes nothing: no write is outstanding, and no read
    busy  out  a load waits, or is being sent
    icap  out  the ports of ICAPE2; its output O is not used

    icap.clk divides clk by two, so clk may have 200 MHz. All other ports change as it falls. RDWRB
    never changes while CSIB is low. Source: UG470, "IPROG Using ICAPE2", "Parallel Bus Bit Order".
    Latency: RDWRB falls 2 or 3 cycles after begin if memory is idle, and CSIB 2 cycles later; 8
    words of 2 cycles each. Throughput: a load every 20 cycles. Reset: a load that waits is dropped.
    A load that is being sent is completed, because the FPGA would keep half a packet.
    """
    place = count(LAST + 1)
    waiting = flag()
    word = bits(WORD)
    swapped = ConcatSignal(*(word(at ^ BYTE - 1) for at in reversed(range(WORD))))

    @always_comb
    def choose() -> None:
        word.next = NOOP
        if place == FIRST:
            word.next = DUMMY
        elif place == 2:
            word.next = SYNC
        elif place == 4:
            word.next = WRITE_WBSTAR
        elif place == 5:
            word.next = load.address
        elif place == 6:
            word.next = WRITE_COMMAND
        elif place == 7:
            word.next = IPROG

    @always_comb
    def tell() -> None:
        busy.next = waiting or place != 0

    @always(clk.posedge)
    def send() -> None:
        icap.clk.next = not icap.clk
        if load.begin and not busy:
            waiting.next = True
        if icap.clk:
            if place == 0:
                icap.rdwrb.next = True
                if waiting and idle and not rst:
                    icap.rdwrb.next = False
                    waiting.next = False
                    place.next = FIRST
            elif place <= LAST:
                icap.csib.next = False
                icap.i.next = swapped
                place.next = place + 1
            else:
                icap.csib.next = True
                place.next = 0
        if rst:
            waiting.next = False

    return choose, tell, send
