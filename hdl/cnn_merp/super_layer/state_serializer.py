"""Convert beats of mask fields to bit strings."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.super_layer.super_layer_ports import FieldSizes
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.bit_string import BitString
from merp.hdl.streams.head import Head


@entity
def state_serializer(
    clk: Bit,
    rst: Bit,
    fields: FieldSizes,
    beat: Head,
    string: BitString,
    width: int,
    lanes: int,
) -> Any:
    """Pass the fields of a beat to the bit packer, one by one or together.

    fields  in   sizes of the fields; single bits of a beat are passed in one cycle
    beat    in   lanes fields of width bits, the first in the lowest bits, with zeros above those
                 that count. Above them: the number of fields that count, at least one. Above that:
                 a flag that the beat ends the run.
    string  out  to bit_packer

    Latency: a field is pushed one cycle after its beat was taken. Throughput: a field, or a whole
    beat, per cycle. Reset: no beat held.
    """
    total = lanes * width
    top = len(beat.word) - 1
    rest = bits(total)
    left = count(lanes)
    ending = flag()

    @always_comb
    def present() -> None:
        string.push.next = left != 0 and string.room
        if fields.together:
            string.value.next = rest[lanes:]
            string.size.next = left
            string.flush.next = ending
        else:
            string.value.next = rest[width:]
            string.size.next = fields.size
            string.flush.next = ending and left == 1

    @always_comb
    def fetch() -> None:
        beat.take.next = beat.valid and (
            left == 0 or (string.room and (fields.together or left == 1))
        )

    @always(clk.posedge)
    def send() -> None:
        if left != 0 and string.room:
            rest.next = rest >> width
            left.next = left - 1
            if fields.together:
                left.next = 0
        if beat.take:
            rest.next = beat.word[total:]
            left.next = beat.word[top:total]
            ending.next = beat.word[top]
        if rst:
            left.next = 0

    return present, fetch, send
