"""How many credits the sequencer has: they come one by one and are spent by the position."""

from __future__ import annotations

from typing import Any

from myhdl import always, block, intbv

from merp.hdl.conversion.entity import Bit, Word


@block
def credit_counter(
    clk: Bit, rst: Bit, start: Bit, given: Bit, spent: Bit, amount: Word, credits: Word, first: int
) -> Any:
    """Count credits.

    given          in   pulse: one more
    spent, amount  in   pulse: so many fewer; there are as many
    credits        out  how many there are

    Reset, and start: first.
    """

    @always(clk.posedge)
    def count() -> None:
        if spent and given:
            credits.next = credits - amount + 1
        elif spent:
            credits.next = credits - amount
        elif given:
            credits.next = credits + 1
        if start or rst:
            credits.next = first

    return count


@block
def credit_check(
    clk: Bit,
    start: Bit,
    given: Bit,
    spent: Bit,
    amount: Word,
    credits: Word,
    enough: Bit,
    first: int,
) -> Any:
    """Tell from a register whether there are credits to spend, the counter's ports beside it.

    enough  out  credits >= amount, from start on
    """
    reach = len(credits) + len(amount) + 2

    @always(clk.posedge)
    def check() -> None:
        # Each case is compared by itself: whether credits are spent is known late in a cycle.
        least = intbv(0)[reach:]
        more = intbv(0)[reach:]
        least[:] = amount
        more[:] = credits
        more[:] = more + 1
        if spent:
            if given:
                enough.next = more >= least << 1
            else:
                enough.next = credits >= least << 1
        elif given:
            enough.next = more >= least
        else:
            enough.next = credits >= least
        if start:
            enough.next = first >= least

    return check
