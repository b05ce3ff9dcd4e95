"""Duplicate a stream for two readers, each behind a FIFO of its own."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate


@block
def _branch(
    clk: Bit, clear: Bit, push: Bit, word: Word, some: Bit, source: Stream, words: int
) -> Any:
    """Buffer one branch in a FIFO and report whether it has room."""
    width = len(source.data)
    credit, take = flag(), flag()
    head = bits(len(word))

    @always_comb
    def hand_on() -> None:
        source.data.next = head[width:]
        source.last.next = head[width]
        take.next = source.ready

    return (
        hand_on,
        credit_gate(clk, clear, taken=push, freed=credit, some=some, places=words),
        credit_fifo(
            clk,
            clear,
            push=push,
            data=word,
            head=head,
            head_valid=source.valid,
            take=take,
            credit=credit,
            words=words,
        ),
    )


@entity
def stream_fork(
    clk: Bit, rst: Bit, start: Bit, sink: Stream, one: Stream, other: Stream, words: int
) -> Any:
    """Give every word to two streams; a word is taken if both FIFOs have room.

    sink        in   words
    one, other  out  the same words. Each stream may run up to words words, and one more in a
                     register, ahead of the other.

    No ready of a source reaches the sink in the same cycle. A source affects the other one only if
    its FIFO is full. Latency: two cycles. Throughput: a word per cycle, if words is at least
    CREDIT_RETURN. Reset, and start: empty.
    """
    word = bits(len(sink.data) + 1)
    joined = ConcatSignal(sink.last, sink.data)
    clear, push = flag(), flag()
    room_one, room_other = flag(), flag()

    @always_comb
    def admit() -> None:
        clear.next = rst or start
        sink.ready.next = room_one and room_other
        push.next = sink.valid and room_one and room_other

    @always_comb
    def join() -> None:
        word.next = joined

    return (
        admit,
        join,
        [
            _branch(clk, clear=clear, push=push, word=word, some=some, source=source, words=words)
            for some, source in ((room_one, one), (room_other, other))
        ],
    )
