"""Words of a rigid pipeline to two streams: those of the kernels, then those of the biases."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_fifo import credit_fifo


@entity
def parameter_writer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    push: Bit,
    biases: Bit,
    last: Bit,
    data: Word,
    credit: Bit,
    source_kernel: Stream,
    source_bias: Stream,
    ends: Bit,
    sent: Bit,
    words: int,
) -> Any:
    """Keep up to words words until their streams take them.

    push, biases, last, data  in   a word, which stream it belongs to, whether it is that one's last
    source_kernel, source_bias  out  the words, each in its stream
    credit  out  pulse: a place is free again
    ends    out  the last bias word is transferred in this cycle
    sent    out  it has been; until the next start

    Latency: two cycles from push. Throughput: a word in and a word out per cycle. Reset: empty.
    """
    width = len(data)
    ends_at = width + 1
    joined = ConcatSignal(last, biases, data)
    tagged = bits(width + 2)
    head = bits(width + 2)
    head_valid, take, closing = flag(), flag(), flag()

    @always_comb
    def join() -> None:
        tagged.next = joined

    waiting = credit_fifo(
        clk,
        rst,
        push=push,
        data=tagged,
        head=head,
        head_valid=head_valid,
        take=take,
        credit=credit,
        words=words,
    )

    @always_comb
    def present() -> None:
        source_kernel.data.next = head[width:]
        source_kernel.last.next = head[ends_at]
        source_kernel.valid.next = head_valid and not head[width]
        source_bias.data.next = head[width:]
        source_bias.last.next = head[ends_at]
        source_bias.valid.next = head_valid and head[width]

    @always_comb
    def fetch() -> None:
        take.next = head_valid and (
            (head[width] and source_bias.ready) or (not head[width] and source_kernel.ready)
        )
        closing.next = head_valid and head[width] and head[ends_at] and source_bias.ready

    @always_comb
    def tell() -> None:
        ends.next = closing

    @always(clk.posedge)
    def finish() -> None:
        if closing:
            sent.next = True
        if start or rst:
            sent.next = False

    return join, waiting, present, fetch, tell, finish
