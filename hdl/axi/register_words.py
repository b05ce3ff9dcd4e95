"""What software reads and does not write: the words behind constants, flags and counters."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.status import Status
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def constant_word(clk: Bit, word: Word, value: int) -> Any:
    """Show value; clocked, as a process needs something to wait for.

    word  out  value
    """

    @always(clk.posedge)
    def hold() -> None:
        word.next = value

    return hold


@entity
def short_word(value: Word, word: Word) -> Any:
    """Show a value of few bits.

    value  in   at most 32 bits
    word   out  the same, zeros above
    """

    @always_comb
    def extend() -> None:
        word.next = value

    return extend


@entity
def status_word(status: Status, aborting: Bit, word: Word) -> Any:
    """Show the flags of a run.

    status    in   of the top
    aborting  in   it is being reset
    word      out  busy, done, framing_error, aborting, from bit 0 on
    """

    @always_comb
    def join() -> None:
        word.next = 0
        word.next[0] = status.busy
        word.next[1] = status.done
        word.next[2] = status.framing_error
        word.next[3] = aborting

    return join


@entity
def counter_words(counter: Word, low: Word, high: Word) -> Any:
    """Show a counter of more than 32 bits in two words.

    counter    in   the counter
    low, high  out  its lowest 32 bits, and those above
    """

    @always_comb
    def cut() -> None:
        low.next = counter[32:]
        high.next = counter[:32]

    return cut
