"""Clip a fixed-point number to a narrower word."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block, intbv

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word


@block
def clip(value: Word, word: Word, clipped: Bit) -> Any:
    """Give the nearest number that ``word`` can hold, and flag whether it differs from the input.

    Both numbers are in two's complement. Latency: combinational.
    """
    width, size = len(value), len(word)
    most = (1 << size - 1) - 1

    @always_comb
    def hold() -> None:
        number = intbv(0, min=-(1 << width - 1), max=1 << width - 1)
        number[:] = value.signed()
        clipped.next = False
        if number > most:
            number[:] = most
            clipped.next = True
        elif number < -most - 1:
            number[:] = -most - 1
            clipped.next = True
        word.next = number[size:]

    return hold


@block
def clipped_sum(a: Word, b: Word, word: Word, clipped: Bit) -> Any:
    """Add two numbers in two's complement, and clip their sum. Latency: combinational."""
    width = max(len(a), len(b)) + 1
    total = bits(width)

    @always_comb
    def add() -> None:
        exact = intbv(0, min=-(1 << width - 1), max=1 << width - 1)
        exact[:] = a.signed() + b.signed()
        total.next = exact[width:]

    return add, clip(value=total, word=word, clipped=clipped)
