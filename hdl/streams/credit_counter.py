"""Count the credits of the sequencer: they return one by one, and a position spends several."""

from __future__ import annotations

from typing import Any

from myhdl import always, block, intbv

from merp.hdl.conversion.entity import Bit, Word


@block
def credit_counter(
    clk: Bit, rst: Bit, start: Bit, given: Bit, spent: Bit, amount: Word, credits: Word, first: int
) -> Any:
    """Count credits.

    given          in   pulse: one credit returns
    spent, amount  in   pulse: amount credits are spent; at least this number is available
    credits        out  number of available credits

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
    """Register whether enough credits are available; the other ports are the counter's.

    enough  out  credits >= amount, valid from start on
    """
    reach = len(credits) + len(amount) + 2

    @always(clk.posedge)
    def check() -> None:
        # The cases are compared separately, because spent arrives late in a cycle.
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
