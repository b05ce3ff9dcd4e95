"""Maximum of two elements by their bits: IEEE 754 magnitudes are ordered like integers."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.signals import flag
from merp.hdl.conversion.entity import Bit, Word, entity


@entity
def fp_max(fresh: Bit, a: Word, b: Word, y: Word, wins: Bit = None) -> Any:
    """Give b if it is greater than a or NaN, or if a does not count, else a.

    fresh    in   b is the first element: a does not count
    a, b, y  in, in, out  elements, the sign in the highest bit
    wins     out  y is b (optional port)

    In a tie, a is kept; -0 equals +0. A NaN wins without a test of its own. The only NaN of the
    datapath is the canonical one, which is positive and of greater magnitude than infinity.
    Latency: combinational. Reset: none.
    """
    sign = len(a) - 1
    won = flag() if wins is None else wins

    @always_comb
    def compare() -> None:
        if fresh:
            won.next = True
        elif a[sign] and b[sign]:
            if b < a:  # the magnitude decides: the smaller one wins if both elements are negative
                won.next = True
            else:
                won.next = False
        elif b[sign]:
            won.next = False
        elif a[sign]:
            if b == 0 and a[sign:] == 0:
                won.next = False
            else:
                won.next = True
        else:
            won.next = b > a

    @always_comb
    def choose() -> None:
        if won:
            y.next = b
        else:
            y.next = a

    return compare, choose
