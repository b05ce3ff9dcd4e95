"""How many credits the sequencer has: they come one by one and are spent by the position."""

from __future__ import annotations

from typing import Any

from myhdl import always, block


@block
def credit_counter(
    clk: Any, rst: Any, start: Any, given: Any, spent: Any, amount: Any, credits: Any, first: int
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
