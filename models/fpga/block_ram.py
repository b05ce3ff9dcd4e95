"""The number of block RAMs of the 7 series that a memory of given words and bits needs.

The memory has one write port and one registered read port. A RAMB18 has 512 x 36, 1K x 18, 2K x 9,
... bits. A RAMB36 is twice as wide or twice as deep (UG473, table 1-1). The choice among them and
LUT RAM follows Yosys' ``memory_libmap``: it depends on the cost of the cells and of the selection
between them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

_BLOCKS: Final = (
    (1, 129, ((36, 512), (18, 1024), (9, 2048), (4, 4096), (2, 8192), (1, 16384))),
    (2, 257, ((72, 512), (36, 1024), (18, 2048), (9, 4096), (4, 8192), (2, 16384), (1, 32768))),
)
"""RAMB18 of a block, its cost, its bits and words. source: techlibs/xilinx/brams_xc4v.txt of Yosys
0.70, which also covers the 7 series.
"""

_LUT_RAMS: Final = ((6, 32), (3, 64))
"""Bits and words of RAM32M and RAM64M. source: techlibs/xilinx/lutrams_xc5v.txt"""

_LUT_RAM_COST: Final = 8.0
_LUTS_OF_A_RAM: Final = 4
_SELECTION: Final = 0.5
"""Cost per bit of a word that is selected from several rows of cells."""


class Mapped(NamedTuple):
    """The cells of a memory.

    Attributes:
        halves: RAMB18, two of which are a RAMB36.
        luts: of LUT RAM, without the selection.
    """

    halves: int
    luts: int

    @property
    def block_rams(self) -> float:
        """Number of block RAMs in RAMB36."""
        return self.halves / 2


@lru_cache(maxsize=1 << 16)
def mapped(words: int, bits: int, at_once: bool = False) -> Mapped:
    """Return the cells of a memory of ``words`` words of ``bits`` bits.

    A memory of one word is a register. at_once: it is read in the cycle of its address, so that
    only LUT RAM is possible.
    """
    if words <= 1:
        return Mapped(0, 0)
    found = []
    for halves, cost, sizes in () if at_once else _BLOCKS:
        for width, depth in sizes:
            rows, across = -(-words // depth), -(-bits // width)
            cells = rows * across
            price = cells * cost + _SELECTION * bits * (rows - 1)
            found.append((price, Mapped(cells * halves, 0)))
    for width, depth in _LUT_RAMS:
        rows, across = -(-words // depth), -(-bits // width)
        cells = rows * across
        price = cells * _LUT_RAM_COST + _SELECTION * bits * (rows - 1)
        found.append((price, Mapped(0, cells * _LUTS_OF_A_RAM)))
    return min(found, key=lambda pair: pair[0])[1]
