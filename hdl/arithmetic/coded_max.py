"""Maximum of two elements, with the position of the winner in its window."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, concat

from merp.hdl.arithmetic.fp_max import fp_max
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def coded_max(fresh: Bit, a: Word, b: Word, code: Word, y: Word) -> Any:
    """Give the larger of a and b as fp_max does, with its position code above it.

    fresh  in       b is the first element: a does not count.
    a, y   in, out  element in the lowest bits, its code above
    b      in       element
    code   in       its code

    Latency: combinational. Reset: none.
    """
    width = len(b)
    larger = bits(width)
    wins = flag()
    value = a(width, 0)
    held = a(len(a), width)

    @always_comb
    def attach() -> None:
        if wins:
            y.next = concat(code, larger)
        else:
            y.next = concat(held, larger)

    return fp_max(fresh=fresh, a=value, b=b, y=larger, wins=wins), attach
