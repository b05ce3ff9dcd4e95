"""Output stage of a pipeline that cannot stall: it buffers words for a stream and sets last."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat

from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate


@entity
def credit_source(
    clk: Bit,
    clear: Bit,
    total: Word,
    taken: Bit,
    room: Bit,
    push: Bit,
    data: Word,
    source: Stream,
    words: int,
) -> Any:
    """Send total words; a place is reserved for each word before the word arrives.

    total       in   number of words, stable from clear on
    taken       in   pulse: a place is reserved for a word that will arrive
    room        out  a place is free
    push, data  in   the word
    source      out  the words; last is set with the last one

    Latency: two cycles. Throughput: a word per cycle. Reset, by clear: empty, every place free.
    """
    width = len(data)
    left = bits(len(total))
    final, credit = flag(), flag()
    entry, head = bits(width + 1), bits(width + 1)

    @always_comb
    def compare() -> None:
        final.next = left == 1

    @always_comb
    def enter() -> None:
        entry.next = concat(final, data)

    @always(clk.posedge)
    def count_down() -> None:
        if push:
            left.next = left - 1
        if clear:
            left.next = total

    @always_comb
    def offer() -> None:
        source.data.next = head[width:]
        source.last.next = head[width]

    return (
        compare,
        enter,
        count_down,
        credit_gate(clk, clear, taken=taken, freed=credit, some=room, places=words),
        credit_fifo(
            clk,
            clear,
            push=push,
            data=entry,
            head=head,
            head_valid=source.valid,
            take=source.ready,
            credit=credit,
            words=words,
        ),
        offer,
    )
