"""The AXI4 interface of a manager: the port to external memory.

Source: AMBA AXI (ARM IHI 0022). AxLOCK, AxCACHE, AxPROT, AxQOS and AxREGION are omitted: they have
the same value in every transfer, and the integrator ties them.
"""

from __future__ import annotations

from merp.hdl.base.signals import bits, flag
from merp.models.memory.params.memory_port import MemoryPort

INCR = 1
"""AxBURST: the address of each beat is that of the beat before, plus the bytes of a beat."""


class Axi4:
    """An AXI4 interface."""

    def __init__(self, port: MemoryPort) -> None:
        self.awid = bits(port.id_bits)  # number of the stream that writes
        self.awaddr = bits(port.address_bits)  # byte address of the first beat
        self.awlen = bits(8)  # number of beats less one
        self.awsize = bits(3)  # logarithm of the bytes of a beat
        self.awburst = bits(2)  # INCR
        self.awvalid = flag()
        self.awready = flag()
        self.wdata = bits(port.data_bits)
        self.wstrb = bits(port.beat_bytes)  # bytes that are written
        self.wlast = flag()  # the last beat of its burst
        self.wvalid = flag()
        self.wready = flag()
        self.bid = bits(port.id_bits)  # number of the stream that wrote
        self.bresp = bits(2)  # OKAY, SLVERR or DECERR
        self.bvalid = flag()
        self.bready = flag()
        self.arid = bits(port.id_bits)  # number of the stream that reads
        self.araddr = bits(port.address_bits)  # byte address of the first beat
        self.arlen = bits(8)  # number of beats less one
        self.arsize = bits(3)  # logarithm of the bytes of a beat
        self.arburst = bits(2)  # INCR
        self.arvalid = flag()
        self.arready = flag()
        self.rid = bits(port.id_bits)  # number of the stream that reads
        self.rdata = bits(port.data_bits)
        self.rresp = bits(2)  # OKAY, SLVERR or DECERR
        self.rlast = flag()  # the last beat of its burst
        self.rvalid = flag()
        self.rready = flag()


class AddressChannel:
    """AW or AR."""

    def __init__(self, axi: Axi4, channel: str) -> None:
        self.id = getattr(axi, f"{channel}id")
        self.addr = getattr(axi, f"{channel}addr")
        self.len = getattr(axi, f"{channel}len")
        self.size = getattr(axi, f"{channel}size")
        self.burst = getattr(axi, f"{channel}burst")
        self.valid = getattr(axi, f"{channel}valid")
        self.ready = getattr(axi, f"{channel}ready")
