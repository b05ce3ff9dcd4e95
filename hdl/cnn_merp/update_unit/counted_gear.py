"""``gradient_gear`` for reads that carry the number of their valid elements."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.ports.gradients import GradientBeat
from merp.hdl.conversion.entity import Bit, Word
from merp.hdl.streams.head import Head
from merp.hdl.streams.wide_serializer import wide_serializer
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def counted_gear(
    clk: Bit,
    rst: Bit,
    start: Bit,
    read: Word,
    read_valid: Bit,
    load: Bit,
    beat: GradientBeat,
    take: Bit,
    design: EngineDesign,
) -> Any:
    """Put reads end to end, separately for kernels and biases.

    read, read_valid  in       head of the FIFO of reads: gradient_read elements. Above them: the
                               number that counts, at least one in a last read, and whether the read
                               is the last of its kind.
    load              out      the read is taken.
    beat, take        out, in  a beat, and that it is used; take only while it is valid

    Latency: a beat is valid a cycle after its last read was taken. Throughput: a read and a beat
    per cycle; no read is taken while the last elements of the kernels are sent. Reset, and start:
    empty.
    """
    clear = flag()
    packed = Stream(len(beat.data))
    packed.keep = bits(design.kernel_port)
    head = Head(len(read))
    head.word, head.valid, head.take = read, read_valid, load
    pack = wide_serializer(
        clk,
        rst=clear,
        start=start,
        beat=head,
        source=packed,
        sent=flag(),
        width=design.fmt.width,
        lanes=design.gradient_read,
        ahead=design.kernel_port - 1,  # the number of elements that a read may lack
    )

    @always_comb
    def empty() -> None:
        clear.next = start or rst

    @always_comb
    def hand_on() -> None:
        beat.data.next = packed.data
        beat.keep.next = packed.keep
        beat.valid.next = packed.valid
        beat.last.next = packed.last
        packed.ready.next = take

    @always(clk.posedge)
    def turn() -> None:
        if take and packed.last:
            beat.biases.next = True
        if start or rst:
            beat.biases.next = False

    return pack, empty, hand_on, turn
