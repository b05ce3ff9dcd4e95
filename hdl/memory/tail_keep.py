"""Mark the bytes of a stream's words that count: of the last one perhaps only a part."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.signals import Stream
from merp.hdl.conversion.entity import Word, entity


@entity
def tail_keep(stream: Stream, tail: Word, keep: Word) -> Any:
    """Mark all bytes of every word, except perhaps of the last one.

    stream  in   words
    tail    in   bytes of the last word that count, from the lowest on; 0: all of them
    keep    out  a bit for each byte of the present word

    Latency: combinational.
    """
    size = len(keep)

    @always_comb
    def mark() -> None:
        for i in range(size):
            keep.next[i] = not stream.last or tail == 0 or tail > i

    return mark
