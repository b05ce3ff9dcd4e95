"""A run-time register of a pass, loaded from a word of the schedule."""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def schedule_register(
    clk: Bit, placed: Bit, place: Word, word: Word, value: Word, at: int, low: int, width: int
) -> Any:
    """Keep ``width`` bits of a word from ``low`` on.

    placed, place, word  in   a word of a pass is valid, its number, and the word
    value                out  the register, to the datapath; loaded from word number ``at``

    Latency: a value is valid one cycle after its word. Reset: none, the value stays.
    """
    if isinstance(value.val, bool):

        @always(clk.posedge)
        def keep() -> None:
            if placed and place == at:
                value.next = word[low]

    else:

        @always(clk.posedge)
        def keep() -> None:
            if placed and place == at:
                value.next = word[low + width : low]

    return keep
