"""AXI4-Lite subordinate in front of a register file.

Source: AMBA AXI (ARM IHI 0022), the AXI4-Lite interface. AWPROT and ARPROT are omitted, because a
subordinate may ignore them.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.models.base.register_map import ADDRESS_WIDTH, WORD_BYTES

OKAY = 0
SLVERR = 2
INDEX_LOW = (WORD_BYTES - 1).bit_length()  # the address bits below select a byte of a register


class AxiLite:
    """An AXI4-Lite interface of 32-bit words."""

    def __init__(self) -> None:
        self.awaddr = bits(ADDRESS_WIDTH)  # write address
        self.awvalid = flag()  # write address valid
        self.awready = flag()  # write address taken
        self.wdata = bits(32)  # write data
        self.wstrb = bits(WORD_BYTES)  # write strobes: the bytes to write
        self.wvalid = flag()  # write data valid
        self.wready = flag()  # write data taken
        self.bresp = bits(2)  # write response: OKAY or SLVERR
        self.bvalid = flag()  # write response valid
        self.bready = flag()  # write response taken
        self.araddr = bits(ADDRESS_WIDTH)  # read address
        self.arvalid = flag()  # read address valid
        self.arready = flag()  # read address taken
        self.rdata = bits(32)  # read data
        self.rresp = bits(2)  # read response: OKAY or SLVERR
        self.rvalid = flag()  # read data and response valid
        self.rready = flag()  # read data and response taken


class RegisterWrite:
    """A write into the register file."""

    def __init__(self) -> None:
        self.enable = flag()  # a register is written in this cycle
        self.index = bits(ADDRESS_WIDTH - INDEX_LOW)  # index of the register: its offset in words
        self.data = bits(32)  # the word
        self.strobe = bits(WORD_BYTES)  # which bytes count


class RegisterRead:
    """A read of the register file; the word is valid in the same cycle."""

    def __init__(self) -> None:
        self.index = bits(ADDRESS_WIDTH - INDEX_LOW)  # index of the register: its offset in words
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
    """Convert AXI4-Lite transfers to accesses of a file of words registers.

    Only the registers from first_writable to last_writable may be written. An access to any other
    register is answered with SLVERR and changes nothing. The two lowest address bits are ignored;
    the strobes select the bytes to write.

    Reads and writes are independent. An address (and the data of a write) is taken while the
    previous response waits, so responses are in order. There is no combinational path from an input
    of the bus to an output. Latency: a response is valid two cycles after its address and data.
    Throughput: a read and a write in two cycles. Reset: no access is in progress. No access is
    taken during reset, so a manager that leaves reset earlier waits.
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
