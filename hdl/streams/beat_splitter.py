"""Split wide beats of a stream into narrower parts."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.signals import Stream, count, flag
from merp.hdl.conversion.entity import Bit, entity


@entity
def beat_splitter(
    clk: Bit, rst: Bit, start: Bit, sink: Stream, source: Stream, closing: Bit
) -> Any:
    """Offer the parts of each beat one after the other, the lowest part first.

    sink     in   beats of several parts
    source   out  parts; last is set with the last part of a beat that carries last
    closing  in   the current part is the last part used of its beat

    Latency: combinational. Throughput: a part per cycle. Reset, and start: at the first part of a
    beat.
    """
    width, whole = len(source.data), len(sink.data)
    parts = whole // width
    last_part = parts - 1
    part = count(last_part)
    ending = flag()
    size = whole.bit_length()

    @always_comb
    def end() -> None:
        ending.next = closing or part == last_part

    @always_comb
    def offer() -> None:
        shift = intbv(0)[size:]
        moved = intbv(0)[whole:]
        for i in range(parts):
            if part == i:
                shift[:] = i * width
        moved[:] = sink.data >> shift
        source.data.next = moved[width:]
        source.valid.next = sink.valid
        source.last.next = sink.last and ending
        sink.ready.next = source.ready and ending

    @always(clk.posedge)
    def walk() -> None:
        if sink.valid and source.ready:
            if ending:
                part.next = 0
            else:
                part.next = part + 1
        if start or rst:
            part.next = 0

    return end, offer, walk
