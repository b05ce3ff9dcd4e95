"""Extract fields of a few bits from a stream of bytes."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, intbv

from merp.hdl.base.signals import bits, count
from merp.hdl.conversion.entity import Bit, Word, entity

BYTE = 8


@entity
def bit_unpacker(
    clk: Bit,
    start: Bit,
    data: Word,
    data_valid: Bit,
    data_ready: Bit,
    field_bits: Word,
    field: Word,
    field_valid: Bit,
    take: Bit,
) -> Any:
    """Unpack a bit string into fields, the lowest bit of each byte first.

    data, data_valid, data_ready  in, in, out  bytes
    field_bits   in   bits of a field, at most the width of field; with 0 a field is always
                      available
    field        out  the next field, its first bit lowest, with zeros above
    field_valid  out  a field is available
    take         in   remove the field; allowed only while field_valid is high

    Latency: a field is valid one cycle after its last byte. Throughput: a field of up to 8 bits per
    cycle; a byte per cycle for wider fields. Reset: none, begin with start, which drops the bits
    that are left.
    """
    widest = len(field)
    # If there is no room for a byte, two fields are held: one remains while the next byte arrives.
    most = 2 * widest - 1
    size = most + BYTE
    held = bits(size)
    fill = count(size)
    width = bits(len(field_bits))  # a local copy of field_bits, which does not change during a run

    @always_comb
    def offer() -> None:
        data_ready.next = fill <= most
        field_valid.next = fill >= width
        lowest = intbv(0)[widest:]
        for i in range(widest):
            if i < width:
                lowest[i] = held[i]
        field.next = lowest

    @always(clk.posedge)
    def shift() -> None:
        width.next = field_bits
        if take or (data_valid and data_ready):
            rest = intbv(0)[size:]
            level = intbv(0, min=0, max=size + 1)
            above = intbv(0)[size:]
            rest[:] = held
            level[:] = fill
            if take:
                rest[:] = rest >> width
                level[:] = level - width
            if data_valid and data_ready:
                above[:] = data
                above[:] = above << level
                rest[:] = rest | above
                level[:] = level + BYTE
            held.next = rest
            fill.next = level
        if start:
            held.next = 0
            fill.next = 0

    return offer, shift
