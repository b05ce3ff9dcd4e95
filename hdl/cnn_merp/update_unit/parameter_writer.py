"""Distribute the words of a pipeline that cannot stall to two streams: kernels, then biases."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.cnn_merp.update_unit.update_ports import Leaving, ParameterStreams, RunEnd
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_fifo import credit_fifo


@block
def _present(head: Word, source: Stream, width: int) -> Any:
    """Offer a word or beat; ``source.keep`` has a bit per byte for the elements that count."""
    last_at, keep_at = width + 1, width + 2
    lanes = len(head) - keep_at

    @always_comb
    def present() -> None:
        source.data.next = head[width:]
        source.last.next = head[last_at]

    if not lanes:
        return present
    lane_bytes = len(source.keep) // lanes

    @always_comb
    def count() -> None:
        for i in range(lanes * lane_bytes):
            source.keep.next[i] = head[keep_at + i // lane_bytes]

    return present, count


@entity
def parameter_writer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    leaving: Leaving,
    credit: Bit,
    source: ParameterStreams,
    end: RunEnd,
    words: int,
) -> Any:
    """Keep up to words words, or beats, until their streams take them.

    leaving  in   a word, its stream, and whether it is the last one there
    source   out  the words, each in its stream
    credit   out  pulse: a place is free again
    end      out  the last bias word is transferred in this cycle; it was transferred, until the
                  next start

    Latency: two cycles from push. Throughput: a word in and a word out per cycle. Reset: empty.
    """
    width = len(leaving.data)
    ends_at = width + 1
    kernel, bias = source.kernel, source.bias
    joined = ConcatSignal(leaving.tag, leaving.data)
    tagged, head = bits(len(joined)), bits(len(joined))
    head_valid, take, closing = flag(), flag(), flag()

    @always_comb
    def join() -> None:
        tagged.next = joined

    waiting = credit_fifo(
        clk,
        rst,
        push=leaving.push,
        data=tagged,
        head=head,
        head_valid=head_valid,
        take=take,
        credit=credit,
        words=words,
    )
    presented = [_present(head, source=each, width=width) for each in (kernel, bias)]

    @always_comb
    def offer() -> None:
        kernel.valid.next = head_valid and not head[width]
        bias.valid.next = head_valid and head[width]

    @always_comb
    def fetch() -> None:
        take.next = head_valid and (
            (head[width] and bias.ready) or (not head[width] and kernel.ready)
        )
        closing.next = head_valid and head[width] and head[ends_at] and bias.ready

    @always_comb
    def tell() -> None:
        end.ends.next = closing

    @always(clk.posedge)
    def finish() -> None:
        if closing:
            end.sent.next = True
        if start or rst:
            end.sent.next = False

    return join, waiting, presented, offer, fetch, tell, finish
