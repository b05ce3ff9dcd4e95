"""Stream FIFO in block RAM that reports its peak fill."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate


@entity
def stream_fifo(
    clk: Bit, rst: Bit, start: Bit, sink: Stream, source: Stream, fill: Word, peak: Word, words: int
) -> Any:
    """Keep up to words words, and one more in a register, first in, first out.

    sink    in   words
    source  out  the same words
    fill    out  number of words held
    peak    out  the largest fill since start

    Neither valid nor ready passes combinationally from one side to the other. Latency: two cycles.
    Throughput: a word per cycle, if words is at least CREDIT_RETURN. Reset: empty.
    """
    width = len(sink.data)
    word, head = bits(width + 1), bits(width + 1)
    joined = ConcatSignal(sink.last, sink.data)
    push, take, room, credit, held = (flag() for _ in range(5))
    kept, most = count(words + 1), count(words + 1)

    @always_comb
    def join() -> None:
        word.next = joined

    @always_comb
    def admit() -> None:
        sink.ready.next = room
        push.next = sink.valid and room

    @always_comb
    def hand_on() -> None:
        source.data.next = head[width:]
        source.last.next = head[width]
        source.valid.next = held
        take.next = source.ready

    @always(clk.posedge)
    def tally() -> None:
        if push and not (held and take):
            kept.next = kept + 1
        elif held and take and not push:
            kept.next = kept - 1
        if start or kept > most:
            most.next = kept
        if rst:
            kept.next = 0
            most.next = 0

    @always_comb
    def tell() -> None:
        fill.next = kept
        peak.next = most

    gate = credit_gate(clk, rst, taken=push, freed=credit, some=room, places=words)
    fifo = credit_fifo(
        clk,
        rst,
        push=push,
        data=word,
        head=head,
        head_valid=held,
        take=take,
        credit=credit,
        words=words,
    )
    return join, admit, hand_on, tally, tell, gate, fifo
