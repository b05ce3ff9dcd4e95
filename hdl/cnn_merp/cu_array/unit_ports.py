"""Bundles that a CU and its parts hand to each other."""

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
    """The sum that leaves the adder in this cycle is kept as a partial sum."""

    def __init__(self, enable: Bit, addr: Word) -> None:
        self.enable = enable
        self.addr = addr


class UnitWrite(MemoryWrite):
    """Write of a kernel, k*k elements, tap 0 in the lowest bits.

    taps             (where words are written in parts) which elements of data are written
    element, places  (where elements come apart from the word) one that goes in place of the data of
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
    """An element of the word read one cycle earlier; and that, a cycle after tap, as it is kept."""

    def __init__(self, tap: Word, kept: Word) -> None:
        self.tap = tap
        self.kept = kept


class SharedProducts:
    """The kernel read, out; products of its significands, in."""

    def __init__(self, kernel: Word, products: Word) -> None:
        self.kernel = kernel
        self.products = products


def memory_write(like: MemoryWrite) -> MemoryWrite:
    """A write of its own of such words."""
    return MemoryWrite(flag(), bits(len(like.addr)), bits(len(like.data)))
