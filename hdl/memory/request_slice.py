"""Register slice of requests or bursts: neither valid nor ready passes combinationally."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit
from merp.hdl.memory.requests import Bursts, NumberedRequests, Requests
from merp.hdl.streams.stream_slice import stream_slice


@block
def request_slice(clk: Bit, clear: Bit, sink: Requests, source: Requests) -> Any:
    """Pass requests on through two places.

    clear   in   drop the requests
    sink    in   requests
    source  out  the same requests, later

    Latency: one cycle. Throughput: a request per cycle. Reset: none, begin with clear.
    """
    together = ConcatSignal(sink.length, sink.address)
    held, low = bits(len(together)), len(sink.address)

    @always_comb
    def part() -> None:
        source.address.next = held[low:]
        source.length.next = held[:low]

    return part, stream_slice(
        clk, clear, data=together, valid=sink.valid, ready=sink.ready,
        held=held, held_valid=source.valid, held_ready=source.ready,
    )  # fmt: skip


@block
def numbered_slice(clk: Bit, clear: Bit, sink: NumberedRequests, source: NumberedRequests) -> Any:
    """Pass requests of several streams on, as ``request_slice``."""
    together = ConcatSignal(sink.stream, sink.length, sink.address)
    held, low = bits(len(together)), len(sink.address)
    high = low + len(sink.length)

    @always_comb
    def part() -> None:
        source.address.next = held[low:]
        source.length.next = held[high:low]
        source.stream.next = held[:high]

    return part, stream_slice(
        clk, clear, data=together, valid=sink.valid, ready=sink.ready,
        held=held, held_valid=source.valid, held_ready=source.ready,
    )  # fmt: skip


@block
def burst_slice(clk: Bit, clear: Bit, sink: Bursts, source: Bursts) -> Any:
    """Pass bursts on, as ``request_slice``."""
    together = ConcatSignal(sink.last, sink.final, sink.first, sink.length, sink.address)
    held, length_low = bits(len(together)), len(sink.address)
    first_low = length_low + len(sink.length)
    final_low = first_low + len(sink.first)
    last_at = final_low + len(sink.final)

    @always_comb
    def part() -> None:
        source.address.next = held[length_low:]
        source.length.next = held[first_low:length_low]
        source.first.next = held[final_low:first_low]
        source.final.next = held[last_at:final_low]
        source.last.next = held[last_at]

    return part, stream_slice(
        clk, clear, data=together, valid=sink.valid, ready=sink.ready,
        held=held, held_valid=source.valid, held_ready=source.ready,
    )  # fmt: skip
