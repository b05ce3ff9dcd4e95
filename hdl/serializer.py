"""Beats of results to a stream of words."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.bundles import Stream, bits, count, flag
from merp.hdl.entity import entity


@entity
def serializer(
    clk: Any,
    rst: Any,
    start: Any,
    words: Any,
    words_used: Any,
    words_last: Any,
    words_valid: Any,
    take: Any,
    source: Stream,
    sent: Any,
    width: int,
) -> Any:
    """Send the words of a beat one by one.

    words        in   words of width bits, the first in the lowest bits
    words_used   in   how many of them count, at least one
    words_last   in   the run ends with them
    words_valid, take  in, out  head of the FIFO of results; it is taken
    source       out  stream; last with the last word of the run
    sent         out  that word was transferred; until the next start

    Latency: a word is on source one cycle after its beat was taken. Throughput: a word per cycle.
    Reset: no beat held.
    """
    capacity = len(words)
    rest = bits(capacity)
    left = count((1 << len(words_used)) - 1)
    ending = flag()

    @always_comb
    def present() -> None:
        source.data.next = rest[width:]
        source.valid.next = left != 0
        source.last.next = ending and left == 1

    @always_comb
    def fetch() -> None:
        take.next = words_valid and (left == 0 or (left == 1 and source.ready))

    @always(clk.posedge)
    def send() -> None:
        if left != 0 and source.ready:
            rest.next = rest >> width
            left.next = left - 1
            if left == 1 and ending:
                sent.next = True
        if take:
            rest.next = words
            left.next = words_used
            ending.next = words_last
        if start:
            sent.next = False
        if rst:
            left.next = 0
            sent.next = False

    return present, fetch, send
