"""Maximum pooling of the pixels of a lane, in the order in which they are read."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def max_pool(
    clk: Bit,
    valid: Bit,
    opens: Bit,
    beside: Word,
    code: Word,
    word: Word,
    largest: Word,
    index: Word,
    windows: int,
) -> Any:
    """Keep the largest word of each of the windows that stand side by side in a tile.

    valid    in   there is a pixel
    opens    in   it is the first one of its window
    beside    in   number of its window in the row of windows, below ``windows``
    code     in   its place in the window, row by row
    word     in   its word, in two's complement
    largest  out  the largest word of the window so far, a cycle later
    index    out  its place; of equal words the first one stays

    With windows of one pixel words pass as they are.
    Throughput: a pixel per cycle, also of the same window. Reset: none.
    """
    words = [bits(len(word)) for _ in range(windows)]
    codes = [bits(len(code)) for _ in range(windows)]
    best, place = bits(len(word)), bits(len(code))

    @always_comb
    def compare() -> None:
        best.next = words[beside]
        place.next = codes[beside]
        if opens or word.signed() > words[beside].signed():
            best.next = word
            place.next = code

    @always(clk.posedge)
    def keep() -> None:
        if valid:
            words[beside].next = best
            codes[beside].next = place
        largest.next = best
        index.next = place

    return compare, keep
