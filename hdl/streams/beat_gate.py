"""Input gate for packed beats: admits the beats of one run and checks their last."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def beat_gate(
    clk: Bit,
    rst: Bit,
    start: Bit,
    words: Word,
    sink: Stream,
    source: Stream,
    framing_error: Bit,
    width: int,
) -> Any:
    """Admit the beats of a run, then close.

    words          in   number of words of width bits in the run, at least one
    sink           in   packed beats with keep
    source         out  the same beats; last is set with the beat that holds the last word of the
                        run
    framing_error  out  last arrived with a different beat; sticky until start

    Latency: combinational. Throughput: a beat per cycle. Reset: closed.
    """
    lanes = len(sink.data) // width
    left = bits(len(words))
    ending = flag()

    @always_comb
    def end() -> None:
        ending.next = left <= lanes

    @always_comb
    def admit() -> None:
        source.data.next = sink.data
        source.keep.next = sink.keep
        source.last.next = ending
        source.valid.next = sink.valid and left != 0
        sink.ready.next = source.ready and left != 0

    @always(clk.posedge)
    def tally() -> None:
        if sink.valid and source.ready and left != 0:
            if ending:
                left.next = 0
            else:
                left.next = left - lanes
            if sink.last != ending:
                framing_error.next = True
        if start:
            left.next = words
            framing_error.next = False
        if rst:
            left.next = 0
            framing_error.next = False

    return end, admit, tally
