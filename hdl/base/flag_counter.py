"""Count the set bits of a vector of flags over time."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import bits, count
from merp.hdl.conversion.entity import Bit, Word, entity


@block
def _set_flags(flags: Word, some: Word) -> Any:
    """Count the set bits by recursive halving, so that the adder tree is shallow."""
    number = len(flags)
    if number == 1:

        @always_comb
        def tell() -> None:
            some.next = flags

        return tell

    half = number // 2
    low, high = count(half), count(number - half)
    low_flags, high_flags = bits(half), bits(number - half)

    @always_comb
    def halve() -> None:
        low_flags.next = flags[half:]
        high_flags.next = flags[number:half]

    @always_comb
    def add() -> None:
        some.next = low + high

    return (
        halve,
        _set_flags(flags=low_flags, some=low),
        _set_flags(flags=high_flags, some=high),
        add,
    )


@entity
def flag_counter(clk: Bit, clear: Bit, flags: Word, total: Word) -> Any:
    """Count the bits that are set.

    flags  in   the flags of a cycle
    total  out  set flags of all cycles up to two cycles ago; clear sets it to zero

    The flags of a cycle are added up in one cycle, and added to the total in the next. Throughput:
    flags per cycle. Reset, by clear: zero, without the flags of the cycle before.
    """
    some, found = count(len(flags)), count(len(flags))

    @always(clk.posedge)
    def tally() -> None:
        found.next = some
        total.next = total + found
        if clear:
            found.next = 0
            total.next = 0

    return _set_flags(flags=flags, some=some), tally
