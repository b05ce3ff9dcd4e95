"""Beats of state fields to strings of bits, all fields of a beat together."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.lane import word_within
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@block
def _choose(field_size: Word, joined: Word, others: Word, y: Word, size: int) -> Any:
    """The string of fields of ``size`` bits, if that is what they have."""

    @always_comb
    def choose() -> None:
        if field_size == size:
            y.next = joined
        else:
            y.next = others

    return choose


@entity
def state_joiner(
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
    """Hand the fields of a beat to the bit packer, end to end.

    together          in   fields are single bits, side by side in the lowest places, zeros above
    field_size        in   bits of a field otherwise
    beat              in   lanes fields of width bits, the first in the lowest bits; above them how
                           many count (at least one); above that whether they end the run
    beat_valid, take  in, out  head of the FIFO of beats; it is taken
    value, size, push, flush, room  out, out, out, out, in  to and from bit_packer

    Latency: a beat is pushed one cycle after it was taken. Throughput: a beat per cycle. Reset: no
    beat held.
    """
    total = lanes * width
    top = len(beat) - 1
    held = bits(total)
    left = count(lanes)
    ending = flag()
    kept = [bits(width) for _ in range(lanes)]
    strings = [bits(total) for _ in range(width)]
    parts: list[Any] = [
        word_within(
            word=held((lane + 1) * width, lane * width), counted=left, kept=kept[lane], at=lane
        )
        for lane in range(lanes)
    ]
    for bit in range(width):
        fields = [each(bit + 1, 0) for each in reversed(kept)]
        parts.append(
            _choose(
                field_size=field_size,
                joined=ConcatSignal(*fields) if lanes > 1 else fields[0],
                others=strings[bit - 1] if bit else held,
                y=strings[bit],
                size=bit + 1,
            )
        )
    fields_only = strings[-1]

    @always_comb
    def present() -> None:
        push.next = left != 0 and room
        flush.next = ending
        if together:
            value.next = held
            size.next = left
        else:
            value.next = fields_only
            size.next = left * field_size

    @always_comb
    def fetch() -> None:
        take.next = beat_valid and (left == 0 or room)

    @always(clk.posedge)
    def hold() -> None:
        if left != 0 and room:
            left.next = 0
        if take:
            held.next = beat[total:]
            left.next = beat[top:total]
            ending.next = beat[top]
        if rst:
            left.next = 0

    return parts, present, fetch, hold
