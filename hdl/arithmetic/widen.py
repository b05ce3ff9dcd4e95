"""Conversion of elements to a format with more fraction bits; the conversion is exact."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block, intbv

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Word


@block
def widen(x: Word, y: Word, width: int) -> Any:
    """Append zeros to the fraction of an element.

    x  in   element
    y  out  the same number in a format of width bits with as many exponent bits; zeros above

    Latency: combinational. Reset: none.
    """
    more = width - len(x)

    @always_comb
    def fill() -> None:
        word = intbv(0)[width:]
        word[:] = x
        y.next = word << more

    return fill


@block
def widen_lanes(x: Word, y: Word, width: int, lanes: int) -> Any:
    """Widen each of several elements in parallel."""
    given, wanted = len(x) // lanes, len(y) // lanes
    words = [bits(wanted) for _ in range(lanes)]
    joined = ConcatSignal(*reversed(words))

    @always_comb
    def join() -> None:
        y.next = joined

    return join, [
        widen(x=x((lane + 1) * given, lane * given), y=words[lane], width=width)
        for lane in range(lanes)
    ]
