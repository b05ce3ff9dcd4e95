"""An AXI4-Lite subordinate in front of a file of registers.

AMBA AXI (ARM IHI 0022), the AXI4-Lite interface. Not here: AWPROT and ARPROT, which a subordinate
may ignore.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.models.base.register_map import ADDRESS_WIDTH, WORD_BYTES

OKAY = 0
SLVERR = 2
INDEX_LOW = (WORD_BYTES - 1).bit_length()  # the address bits below choose a byte of a register


class AxiLite:
    """An AXI4-Lite interface of 32-bit words."""

    def __init__(self) -> None:
        self.awaddr = bits(ADDRESS_WIDTH)  # write address
        self.awvalid = flag()  # there is one
        self.awready = flag()  # it is taken
        self.wdata = bits(32)  # write data
        self.wstrb = bits(WORD_BYTES)  # which of its bytes are written
        self.wvalid = flag()  # there are some
        self.wready = flag()  # they are taken
        self.bresp = bits(2)  # write response: OKAY or SLVERR
        self.bvalid = flag()  # there is one
        self.bready = flag()  # it is taken
        self.araddr = bits(ADDRESS_WIDTH)  # read address
        self.arvalid = flag()  # there is one
        self.arready = flag()  # it is taken
        self.rdata = bits(32)  # read data
        self.rresp = bits(2)  # read response: OKAY or SLVERR
        self.rvalid = flag()  # there are both
        self.rready = flag()  # they are taken


class RegisterWrite:
    """A write into the register file."""

    def __init__(self) -> None:
        self.enable = flag()  # a register is written in this cycle
        self.index = bits(ADDRESS_WIDTH - INDEX_LOW)  # of the register: its offset in words
        self.data = bits(32)  # the word
        self.strobe = bits(WORD_BYTES)  # which bytes count


class RegisterRead:
    """A read of the register file; the word is there in the same cycle."""

    def __init__(self) -> None:
        self.index = bits(ADDRESS_WIDTH - INDEX_LOW)  # of the register: its offset in words
        self.word = bits(32)  # its value


@entity
def axi_lite(
    clk: Bit,
    rst: Bit,
    s_axi: AxiLite,
    write: RegisterWrite,
    read: RegisterRead,
    words: int,
    first_writable: int,
    last_writable: int,
) -> Any:
    """Turn AXI4-Lite transfers into accesses of a file of words registers.

    Only those from first_writable to last_writable may be written. An access that the file does not
    have is answered with SLVERR and changes nothing. The two lowest address bits are ignored, the
    strobes say which bytes are written.

    Reads and writes are independent; an address (and a write's data) is taken while the response
    before it waits, so responses come in order. No path leads from an input of the bus to an
    output.
    Latency: a response is valid two cycles after its address and data. Throughput: a read and a
    write in two cycles. Reset: no access is under way; none is taken in reset, so whoever comes out
    of it earlier waits.
    """
    address_held, data_held, read_held = flag(), flag(), flag()
    writes, reads = flag(), flag()
    writable = flag()

    @always_comb
    def admit() -> None:
        s_axi.awready.next = not address_held and not rst
        s_axi.wready.next = not data_held and not rst
        s_axi.arready.next = not read_held and not rst

    @always_comb
    def decide() -> None:
        writes.next = address_held and data_held and not s_axi.bvalid
        reads.next = read_held and not s_axi.rvalid
        writable.next = write.index >= first_writable and write.index <= last_writable

    @always_comb
    def hand_on() -> None:
        write.enable.next = writes and writable

    @always(clk.posedge)
    def write_channels() -> None:
        if s_axi.awvalid and not address_held:
            address_held.next = True
            write.index.next = s_axi.awaddr[:INDEX_LOW]
        if s_axi.wvalid and not data_held:
            data_held.next = True
            write.data.next = s_axi.wdata
            write.strobe.next = s_axi.wstrb
        if s_axi.bready:
            s_axi.bvalid.next = False
        if writes:
            address_held.next = False
            data_held.next = False
            s_axi.bvalid.next = True
            if writable:
                s_axi.bresp.next = OKAY
            else:
                s_axi.bresp.next = SLVERR
        if rst:
            address_held.next = False
            data_held.next = False
            s_axi.bvalid.next = False

    @always(clk.posedge)
    def read_channels() -> None:
        if s_axi.arvalid and not read_held:
            read_held.next = True
            read.index.next = s_axi.araddr[:INDEX_LOW]
        if s_axi.rready:
            s_axi.rvalid.next = False
        if reads:
            read_held.next = False
            s_axi.rvalid.next = True
            if read.index < words:
                s_axi.rdata.next = read.word
                s_axi.rresp.next = OKAY
            else:
                s_axi.rdata.next = 0
                s_axi.rresp.next = SLVERR
        if rst:
            read_held.next = False
            s_axi.rvalid.next = False

    return admit, decide, hand_on, write_channels, read_channels
