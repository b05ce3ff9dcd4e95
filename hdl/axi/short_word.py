"""Read-only registers: constants, flags and counters as words."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.conversion.entity import Word, entity


@entity
def short_word(value: Word, word: Word) -> Any:
    """Show a value of few bits as a word.

    value  in   at most 32 bits
    word   out  the value, with zeros above
    """

    @always_comb
    def extend() -> None:
        word.next = value

    return extend
