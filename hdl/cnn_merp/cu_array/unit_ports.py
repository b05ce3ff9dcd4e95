"""Bundles between a CU and its parts."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word


class MemoryWrite:
    """Write port of a memory: a word and its address."""

    def __init__(self, enable: Bit, addr: Word, data: Word) -> None:
        self.enable = enable
        self.addr = addr
        self.data = data


class SumWrite:
    """Write the sum at the adder output in this cycle back as a partial sum."""

    def __init__(self, enable: Bit, addr: Word) -> None:
        self.enable = enable
        self.addr = addr


class UnitWrite(MemoryWrite):
    """Write of a kernel, k*k elements, tap 0 in the lowest bits.

    taps             (if words are written in parts) the elements of data to write.
    element, places  (if elements are supplied separately) an element that replaces the data of
                     these taps
    """

    def __init__(
        self,
        enable: Bit,
        addr: Word,
        data: Word,
        taps: Word = None,
        element: Word = None,
        places: Word = None,
    ) -> None:
        super().__init__(enable, addr, data)
        self.taps: Any = taps
        self.element: Any = element
        self.places: Any = places


class ReadBack:
    """An element of the word read one cycle earlier, and the stored form of this element.

    The stored form follows tap by one cycle.
    """

    def __init__(self, tap: Word, kept: Word) -> None:
        self.tap = tap
        self.kept = kept


class SharedProducts:
    """The kernel read, out; products of its significands, in."""

    def __init__(self, kernel: Word, products: Word) -> None:
        self.kernel = kernel
        self.products = products


def memory_write(like: MemoryWrite) -> MemoryWrite:
    """Make a write port of its own for words of the same size."""
    return MemoryWrite(flag(), bits(len(like.addr)), bits(len(like.data)))
