"""``parameter_writer`` of beats: which elements of each count goes with it."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.base.signals import Stream, bits
from merp.hdl.cnn_merp.update_unit.parameter_writer import parameter_writer
from merp.hdl.conversion.entity import Bit, Word, entity


@block
def _present(tagged: Stream, source: Stream, lanes: int) -> Any:
    """Take what counts from above the elements: ``source.keep`` has a bit per byte."""
    size, lane_bytes = len(source.data), len(source.keep) // lanes

    @always_comb
    def present() -> None:
        source.data.next = tagged.data[size:]
        source.valid.next = tagged.valid
        source.last.next = tagged.last
        tagged.ready.next = source.ready
        for i in range(lanes * lane_bytes):
            source.keep.next[i] = tagged.data[size + i // lane_bytes]

    return present


@entity
def beat_writer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    push: Bit,
    biases: Bit,
    last: Bit,
    keep: Word,
    data: Word,
    credit: Bit,
    source_kernel: Stream,
    source_bias: Stream,
    ends: Bit,
    sent: Bit,
    words: int,
) -> Any:
    """Keep up to words beats until their streams take them.

    push, biases, last, data  in   a beat, which stream it belongs to, whether it is that one's last
    keep    in   a bit per element of data: it counts
    source_kernel, source_bias  out  the beats, each in its stream
    credit  out  pulse: a place is free again
    ends    out  the last beat of biases is transferred in this cycle
    sent    out  it has been; until the next start

    Latency: two cycles from push. Throughput: a beat in and a beat out per cycle. Reset: empty.
    """
    tagged = bits(len(data) + len(keep))
    joined = ConcatSignal(keep, data)
    kernels, of_biases = Stream(len(tagged)), Stream(len(tagged))

    @always_comb
    def join() -> None:
        tagged.next = joined

    write = parameter_writer(
        clk,
        rst,
        start,
        push=push,
        biases=biases,
        last=last,
        data=tagged,
        credit=credit,
        source_kernel=kernels,
        source_bias=of_biases,
        ends=ends,
        sent=sent,
        words=words,
    )
    return (
        join,
        write,
        [
            _present(tagged=each, source=source, lanes=len(keep))
            for each, source in ((kernels, source_kernel), (of_biases, source_bias))
        ],
    )
