"""AXI4-Lite manager: reads and writes of the registers of several engines, one at a time.

Source: AMBA AXI (ARM IHI 0022), the AXI4-Lite interface.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, concat, intbv

from merp.hdl.axi.axi_lite import INDEX_LOW, SLVERR, AxiLite
from merp.hdl.base.signals import Bundles, bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.register_map import ADDRESS_WIDTH, WORD_BYTES

REGISTER_BITS = ADDRESS_WIDTH - INDEX_LOW
"""Bits of the index of a register of one engine."""

INDEX_BITS = 16
ALL_BYTES = (1 << WORD_BYTES) - 1


class RegisterAccess:
    """An access to a register."""

    def __init__(self) -> None:
        self.begin = flag()  # pulse: begin the access; allowed while none is in progress
        self.writes = flag()  # it is a write
        self.index = bits(INDEX_BITS)  # register, and above it the number of the engine
        self.data = bits(32)  # the word to write
        self.done = flag()  # pulse: the access has ended
        self.refused = flag()  # with done: the response was an error
        self.word = bits(32)  # the word that was read last


class _Pending:
    """Channels on which an engine has something to take."""

    def __init__(self) -> None:
        self.address = flag()
        self.data = flag()
        self.read = flag()


@block
def _engine(
    s_axi: AxiLite, number: int, engine: Word, index: Word, data: Word, pending: _Pending,
    taken: _Pending, ended: Bit, refused: Bit, word: Word,
) -> Any:  # fmt: skip
    """Connect the bus of one engine; its answers are 0 while another engine is accessed."""

    @always_comb
    def request() -> None:
        s_axi.awaddr.next = concat(index, intbv(0)[INDEX_LOW:])
        s_axi.araddr.next = concat(index, intbv(0)[INDEX_LOW:])
        s_axi.wdata.next = data
        s_axi.wstrb.next = ALL_BYTES
        s_axi.awvalid.next = pending.address and engine == number
        s_axi.wvalid.next = pending.data and engine == number
        s_axi.arvalid.next = pending.read and engine == number
        s_axi.bready.next = True
        s_axi.rready.next = True

    @always_comb
    def answer() -> None:
        taken.address.next = pending.address and s_axi.awready and engine == number
        taken.data.next = pending.data and s_axi.wready and engine == number
        taken.read.next = pending.read and s_axi.arready and engine == number
        ended.next = s_axi.bvalid or s_axi.rvalid
        refused.next = (s_axi.bvalid and s_axi.bresp >= SLVERR) or (
            s_axi.rvalid and s_axi.rresp >= SLVERR
        )
        word.next = 0
        if s_axi.rvalid:
            word.next = s_axi.rdata

    return request, answer


@entity
def lite_manager(clk: Bit, rst: Bit, access: RegisterAccess, engines: Bundles) -> Any:
    """Access one register after the other; an access to an engine that does not exist is refused.

    access   in   an access, and its end
    engines  out  an AXI4-Lite interface of each engine, in the order of their numbers

    Latency: the end comes one cycle after the response. Throughput: one access at a time. Reset: no
    access is in progress; reset the engines as well.
    """
    buses = list(vars(engines).values())
    count = len(buses)
    engine, index, data = bits(INDEX_BITS - REGISTER_BITS), bits(REGISTER_BITS), bits(32)
    pending = _Pending()
    taken = [_Pending() for _ in buses]
    address_taken = [each.address for each in taken]
    data_taken = [each.data for each in taken]
    read_taken = [each.read for each in taken]
    ended, refused = [flag() for _ in buses], [flag() for _ in buses]
    words = [bits(32) for _ in buses]
    exists = flag()

    @always_comb
    def look() -> None:
        exists.next = access.index[:REGISTER_BITS] < count

    @always(clk.posedge)
    def go_on() -> None:
        word = intbv(0)[32:]
        for i in range(count):
            word[:] = word | words[i]
        access.done.next = False
        access.refused.next = False
        if access.begin:
            engine.next = access.index[:REGISTER_BITS]
            index.next = access.index[REGISTER_BITS:]
            data.next = access.data
            pending.address.next = access.writes and exists
            pending.data.next = access.writes and exists
            pending.read.next = not access.writes and exists
            access.done.next = not exists
            access.refused.next = not exists
        for i in range(count):
            if address_taken[i]:
                pending.address.next = False
            if data_taken[i]:
                pending.data.next = False
            if read_taken[i]:
                pending.read.next = False
            if ended[i]:
                access.done.next = True
                access.word.next = word
            if refused[i]:
                access.refused.next = True
        if rst:
            access.done.next = False
            pending.address.next = False
            pending.data.next = False
            pending.read.next = False

    connected = [
        _engine(
            each, number=at, engine=engine, index=index, data=data, pending=pending,
            taken=taken[at], ended=ended[at], refused=refused[at], word=words[at],
        )
        for at, each in enumerate(buses)
    ]  # fmt: skip
    return look, go_on, connected
