"""The elements that have passed a port of several in a beat, as ``word_counter`` counts words."""

from __future__ import annotations

from typing import Any

from myhdl import always, intbv

from merp.hdl.base.signals import AxiStream
from merp.hdl.base.word_counter import word_counter
from merp.hdl.conversion.entity import Bit, Entity, Word, entity


@entity
def element_counter(clk: Bit, rst: Bit, start: Bit, stream: AxiStream, words: Word) -> Any:
    """Count the elements that pass a port, seeing nothing but its handshake and tkeep.

    stream  in   the port, which is only listened to
    words   out  elements up to the cycle before; start sets it to zero

    An element counts if tkeep has its lowest byte. Throughput: a beat per cycle. Reset: zero.
    """
    lanes, lane_bytes = stream.lanes, len(stream.tkeep) // stream.lanes
    size = lanes.bit_length()

    @always(clk.posedge)
    def tally() -> None:
        elements = intbv(0)[size:]
        for i in range(lanes):
            if stream.tkeep[i * lane_bytes]:
                elements[:] = elements + 1
        if stream.tvalid and stream.tready:
            words.next = words + elements
        if start or rst:
            words.next = 0

    return tally


def counter_of(stream: AxiStream) -> Entity:
    """The entity that counts what passes ``stream``."""
    return word_counter if stream.tkeep is None else element_counter
