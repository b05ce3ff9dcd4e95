"""Choose the beats of one stream among those of two groups of streams."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.conversion.entity import Word, entity
from merp.hdl.memory.requests import WriteBeats


@entity
def beat_choice(
    stream: Word, low: WriteBeats, high: WriteBeats, chosen: WriteBeats, border: int
) -> Any:
    """Hand on beats of the group that has the stream.

    stream  in   number of the stream
    low     in   beats of the streams below border
    high    in   beats of the others
    chosen  out  beats of the stream's group

    Latency: combinational.
    """

    @always_comb
    def choose() -> None:
        if stream < border:
            chosen.data.next = low.data
            chosen.strobe.next = low.strobe
            chosen.last.next = low.last
            chosen.valid.next = low.valid
        else:
            chosen.data.next = high.data
            chosen.strobe.next = high.strobe
            chosen.last.next = high.last
            chosen.valid.next = high.valid
        low.ready.next = chosen.ready and stream < border
        high.ready.next = chosen.ready and stream >= border

    return choose
