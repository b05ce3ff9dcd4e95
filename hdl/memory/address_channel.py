"""Register of an address channel of AXI4."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv

from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.memory.axi4 import INCR, AddressChannel
from merp.hdl.memory.requests import NumberedRequests
from merp.models.memory.params.memory_port import MemoryPort


@entity
def address_channel(
    clk: Bit,
    rst: Bit,
    request: NumberedRequests,
    granted: Bit,
    room: Bit,
    channel: AddressChannel,
    port: MemoryPort,
) -> Any:
    """Hold a granted request until memory has taken it.

    request, granted  in   the request, and whether it is granted in this cycle
    room              out  a request can be granted
    channel           out  AW or AR

    Latency: one cycle. Throughput: a request per cycle. Reset: no request.
    """
    shift = port.address_bits - port.beat_address_bits

    @always_comb
    def tell() -> None:
        room.next = channel.ready or not channel.valid
        channel.size.next = shift
        channel.burst.next = INCR

    @always(clk.posedge)
    def hold() -> None:
        if granted:
            channel.id.next = request.stream
            channel.addr.next = concat(request.address, intbv(0)[shift:])
            channel.len.next = request.length
            channel.valid.next = True
        elif channel.ready:
            channel.valid.next = False
        if rst:
            channel.valid.next = False

    return tell, hold
