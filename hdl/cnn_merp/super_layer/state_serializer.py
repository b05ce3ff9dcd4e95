"""Beats of state fields to strings of bits."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def state_serializer(
    clk: Bit,
    rst: Bit,
    together: Bit,
    field_size: Word,
    beat: Word,
    beat_valid: Bit,
    take: Bit,
    value: Word,
    size: Word,
    push: Bit,
    flush: Bit,
    room: Bit,
    width: int,
    lanes: int,
) -> Any:
    """Hand the fields of a beat to the bit packer, one by one or together.

    together          in   fields are single bits, all of a beat lie side by side in the lowest
                           places, and they go in one cycle
    field_size        in   bits of a field otherwise
    beat              in   lanes fields of width bits, the first in the lowest bits and zeros above
                           what counts; above them how many count (at least one); above that
                           whether they end the run
    beat_valid, take  in, out  head of the FIFO of beats; it is taken
    value, size, push, flush, room  out, out, out, out, in  to and from bit_packer

    Latency: a field is pushed one cycle after its beat was taken. Throughput: a field, or a whole
    beat, per cycle. Reset: no beat held.
    """
    total = lanes * width
    top = len(beat) - 1
    rest = bits(total)
    left = count(lanes)
    ending = flag()

    @always_comb
    def present() -> None:
        push.next = left != 0 and room
        if together:
            value.next = rest[lanes:]
            size.next = left
            flush.next = ending
        else:
            value.next = rest[width:]
            size.next = field_size
            flush.next = ending and left == 1

    @always_comb
    def fetch() -> None:
        take.next = beat_valid and (left == 0 or (room and (together or left == 1)))

    @always(clk.posedge)
    def send() -> None:
        if left != 0 and room:
            rest.next = rest >> width
            left.next = left - 1
            if together:
                left.next = 0
        if take:
            rest.next = beat[total:]
            left.next = beat[top:total]
            ending.next = beat[top]
        if rst:
            left.next = 0

    return present, fetch, send
