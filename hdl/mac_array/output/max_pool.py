"""Maximum pooling of the pixels of a lane, in the order of their reads."""

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
    """Keep the largest word of each window in a row of windows of a tile.

    valid    in   a pixel is present
    opens    in   the pixel is the first one of its window
    beside   in   number of its window in the row of windows, below ``windows``
    code     in   place of the pixel in the window, row by row
    word     in   word of the pixel, in two's complement
    largest  out  the largest word of the window so far, a cycle later
    index    out  place of the largest word; in a tie, the first place

    With windows of one pixel, words pass unchanged. Throughput: a pixel per cycle, also of the same
    window. Reset: none.
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
