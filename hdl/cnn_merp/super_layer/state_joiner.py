"""Convert beats of mask fields to bit strings, all fields of a beat together."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.lane import word_within
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.super_layer.super_layer_ports import FieldSizes
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.bit_string import BitString
from merp.hdl.streams.head import Head


@block
def _choose(field_size: Word, joined: Word, others: Word, y: Word, size: int) -> Any:
    """Select the string of fields of ``size`` bits, if the fields have this size."""

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
    fields: FieldSizes,
    beat: Head,
    string: BitString,
    width: int,
    lanes: int,
) -> Any:
    """Pass the fields of a beat to the bit packer, end to end.

    fields  in   sizes of the fields
    beat    in   lanes fields of width bits, the first in the lowest bits. Above them: the number of
                 fields that count, at least one. Above that: a flag that the beat ends the run.
    string  out  to bit_packer

    Latency: a beat is pushed one cycle after it was taken. Throughput: a beat per cycle. Reset: no
    beat held.
    """
    total = lanes * width
    top = len(beat.word) - 1
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
        lowest = [each(bit + 1, 0) for each in reversed(kept)]
        parts.append(
            _choose(
                field_size=fields.size,
                joined=ConcatSignal(*lowest) if lanes > 1 else lowest[0],
                others=strings[bit - 1] if bit else held,
                y=strings[bit],
                size=bit + 1,
            )
        )
    fields_only = strings[-1]

    @always_comb
    def present() -> None:
        string.push.next = left != 0 and string.room
        string.flush.next = ending
        if fields.together:
            string.value.next = held
            string.size.next = left
        else:
            string.value.next = fields_only
            string.size.next = left * fields.size

    @always_comb
    def fetch() -> None:
        beat.take.next = beat.valid and (left == 0 or string.room)

    @always(clk.posedge)
    def hold() -> None:
        if left != 0 and string.room:
            left.next = 0
        if beat.take:
            held.next = beat.word[total:]
            left.next = beat.word[top:total]
            ending.next = beat.word[top]
        if rst:
            left.next = 0

    return parts, present, fetch, hold
