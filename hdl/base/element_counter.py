"""Count the elements that pass a port with several elements per beat."""

from __future__ import annotations

from typing import Any

from myhdl import always, intbv

from merp.hdl.base.signals import AxiStream, bits
from merp.hdl.base.word_counter import word_counter
from merp.hdl.conversion.entity import Bit, Entity, Word, entity


@entity
def element_counter(clk: Bit, rst: Bit, start: Bit, stream: AxiStream, words: Word) -> Any:
    """Count the elements that pass a port, from its handshake and tkeep only.

    stream  in   the port, which is only monitored
    words   out  elements up to two cycles before; start sets it to zero

    An element counts if the tkeep bit of its lowest byte is set. The elements of a beat are added
    one cycle later, because the handshake arrives late in its cycle. Throughput: a beat per cycle.
    Reset: zero.
    """
    lanes, lane_bytes = stream.lanes, len(stream.tkeep) // stream.lanes
    size = lanes.bit_length()
    moved = bits(size)

    @always(clk.posedge)
    def tally() -> None:
        elements = intbv(0)[size:]
        for i in range(lanes):
            if stream.tkeep[i * lane_bytes]:
                elements[:] = elements + 1
        moved.next = 0
        if stream.tvalid and stream.tready:
            moved.next = elements
        words.next = words + moved
        if start or rst:
            moved.next = 0
            words.next = 0

    return tally


def counter_of(stream: AxiStream) -> Entity:
    """Return the counter entity that fits ``stream``."""
    return word_counter if stream.tkeep is None else element_counter
