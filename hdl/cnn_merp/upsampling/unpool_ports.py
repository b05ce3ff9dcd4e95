"""Bundles of un-pooling: its registers, and what its two sides tell each other.

The writer puts pooled elements into overlap x overlap memories, the reader walks over the elements
that go out. Memory (a, b) holds the pooled elements whose row (counted over all images of the run)
and column are a and b modulo overlap; it is bit a*overlap + b of an enable.
"""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


def tap_width(design: UnpoolDesign) -> int:
    """Bits of a place in a window, and of the number of places."""
    return (design.window**2).bit_length()


def address_width(design: UnpoolDesign) -> int:
    """Bits of an address of a memory."""
    return max(1, (design.words - 1).bit_length())


class UnpoolWrite:
    """A pooled element on its way into a memory: the code of its position above its delta."""

    def __init__(self, design: UnpoolDesign) -> None:
        self.enable = bits(design.overlap**2)  # a bit per memory
        self.address = bits(address_width(design))  # in that memory
        self.data = bits(design.code_bits + design.fmt.width)  # the code above the delta


class Written:
    """The writer's progress: place of the next pooled element in its row."""

    def __init__(self, design: UnpoolDesign) -> None:
        self.column = count(design.max_size)
        self.channel = count(design.max_maps)
        self.row = flag()  # pulse: the row is complete


class Passed:
    """The reader's progress, in windows of pooled elements."""

    def __init__(self, design: UnpoolDesign) -> None:
        self.row_closes = flag()  # this row is the last one of a window
        self.column_closes = flag()  # this column is
        self.columns = count(design.max_size)  # windows whose last column lies left of this one
        self.channel = count(design.max_maps)  # of the next element
        self.row = flag()  # pulse: a row ends, and with it a window


class UnpoolRead:
    """Read of all memories, one cycle after the issue of an element.

    Addresses and bits of ``column_*`` are one per memory column, those of ``row_*`` one per memory
    row, the first in the lowest bits.
    """

    def __init__(self, design: UnpoolDesign) -> None:
        overlap, taps = design.overlap, design.overlap * tap_width(design)
        self.address = bits(overlap * address_width(design))
        self.row_on = bits(overlap)  # the element lies in rows of that window
        self.column_on = bits(overlap)
        self.row_taps = bits(taps)  # row in the window times its width
        self.column_taps = bits(taps)  # column in the window
        self.row_oldest = count(overlap - 1)  # the memory row that opened first
        self.column_oldest = count(overlap - 1)


class Issued:
    """An element, one cycle after its issue; without pooling its word."""

    def __init__(self, design: UnpoolDesign) -> None:
        self.valid = flag()
        self.last = flag()  # of the run
        self.masked = flag()  # ReLU' stops it
        self.data = bits(design.fmt.width)
