"""Bundles of un-pooling: its registers, and the signals between its two sides.

The writer puts pooled elements into overlap x overlap memories, and the reader walks over the
output elements. Memory (a, b) holds the pooled elements whose row (counted over all images of the
run) and column are a and b modulo overlap. It is bit a*overlap + b of an enable.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


def tap_width(design: UnpoolDesign) -> int:
    """Return the width of a number from 0 to window**2: a place, or the number of places."""
    return (design.window**2).bit_length()


def address_width(design: UnpoolDesign) -> int:
    """Return the bits of an address of a memory."""
    return max(1, (design.words - 1).bit_length())


def leak_latency(design: UnpoolDesign) -> int:
    """Return the cycles of the multiplier for leaky ReLU behind the sums, 0 without it.

    As in ``super_layer.leaky_lanes``, plain designs keep the comments of their files.
    """
    return design.leak_latency


class OfferedWord:
    """A pooled delta; without pooling, the delta of an element."""

    def __init__(self, design: UnpoolDesign) -> None:
        self.data = bits(design.fmt.width)
        self.valid = flag()
        self.ready = flag()

    def to_another(self) -> OfferedWord:
        """Return the same word for a reader with a ready signal of its own."""
        other = copy(self)
        other.ready = flag()
        return other


class OfferedField:
    """Mask field of an element: a mask bit, or with max pooling its position above that."""

    def __init__(self, design: UnpoolDesign) -> None:
        self.data = bits(design.field_bits)
        self.valid = flag()
        self.take = flag()

    def to_another(self) -> OfferedField:
        """Return the same field for a reader with a take signal of its own."""
        other = copy(self)
        other.take = flag()
        return other


class UnpoolWrite:
    """Write of a pooled element into a memory: the code of its position above its delta."""

    def __init__(self, design: UnpoolDesign) -> None:
        self.enable = bits(design.overlap**2)  # a bit per memory
        self.address = bits(address_width(design))  # address in this memory
        self.data = bits(design.code_bits + design.fmt.width)  # the code above the delta


class WriteProgress:
    """Progress of the writer: place of the next pooled element in its row."""

    def __init__(self, design: UnpoolDesign) -> None:
        self.column = count(design.max_size)
        self.channel = count(design.max_maps)
        self.row = flag()  # pulse: the row is complete


class ReadProgress:
    """Progress of the reader, in windows of pooled elements."""

    def __init__(self, design: UnpoolDesign) -> None:
        self.row_closes = flag()  # this row is the last one of a window
        self.column_closes = flag()  # this column is the last one of a window
        self.columns = count(design.max_size)  # windows whose last column is left of this one
        self.channel = count(design.max_maps)  # map of the next element
        self.row = flag()  # pulse: a row ends, which ends a window
        if design.far:
            self.rows = count(design.overlap)  # windows that this row ends


class UnpoolRead:
    """Read of all memories, one cycle after the issue of an element.

    Addresses and bits of ``column_*`` are one per memory column, those of ``row_*`` one per memory
    row, the first in the lowest bits.
    """

    def __init__(self, design: UnpoolDesign) -> None:
        overlap, taps = design.overlap, design.overlap * tap_width(design)
        self.address = bits(overlap * address_width(design))
        self.row_on = bits(overlap)  # the element lies in rows of this window
        self.column_on = bits(overlap)
        self.row_taps = bits(taps)  # row in the window times its width
        self.column_taps = bits(taps)  # column in the window
        self.row_oldest = count(overlap - 1)  # the memory row whose window opened first
        self.column_oldest = count(overlap - 1)


class UnpoolProgress:
    """Progress of the writer and of the reader."""

    def __init__(self, design: UnpoolDesign) -> None:
        self.written = WriteProgress(design)
        self.passed = ReadProgress(design)


class AxisSizes:
    """Windows along one direction.

    unit, reach     increase of a tap per index, and the tap behind the last one of the window.
    stride, pooled  distance of the windows, and their number.
    pad, first_tap  (if windows may extend beyond the edges) indices by which the first one begins
                    before index 0, and its tap there
    at_first        (if several may extend beyond an edge) windows that hold index 0
    next_begin      (the same) the first index, after index 0, that begins a window
    step            (the same) taps by which successive windows differ
    """

    def __init__(
        self,
        unit: Word | int,
        reach: Word,
        stride: Word,
        pooled: Word,
        pad: Word = None,
        first_tap: Word = None,
        at_first: Word = None,
        next_begin: Word = None,
        step: Word = None,
    ) -> None:
        self.unit = unit
        self.reach = reach
        self.stride = stride
        self.pooled = pooled
        self.pad: Any = pad
        self.first_tap: Any = first_tap
        self.at_first: Any = at_first
        self.next_begin: Any = next_begin
        self.step: Any = step


class AxisWindows:
    """Windows that hold an index.

    covers      bit j: it lies in the window of number j
    taps        place in each window, a word for each number, the lowest first
    oldest      number of the next window, or of the window opened overlap windows ago
    opens_next  the next index begins a window
    newest      windows begun since index 0, without the first
    closes      the index is the last one of a window
    closed      windows ended before the index
    ended       (rows, if several windows may extend beyond an edge) windows that the index ends
    """

    def __init__(self, design: UnpoolDesign, taps: int, closes: Bit, closed: Word) -> None:
        self.covers = bits(design.overlap)
        self.taps = bits(taps)
        self.oldest = count(design.overlap - 1)
        self.opens_next = flag()
        self.newest = count(design.max_size)
        self.closes = closes
        self.closed = closed
        self.ended: Any = None


class CellWrite:
    """Write of a pooled element into one memory: code of the position above the delta."""

    def __init__(self, enable: Bit, write: UnpoolWrite) -> None:
        self.enable = enable
        self.address = write.address
        self.data = write.data


class CellRead:
    """Read of one memory: the address, and the place of the output element in its window."""

    def __init__(self, read: UnpoolRead, row: int, column: int, design: UnpoolDesign) -> None:
        span, taps = address_width(design), tap_width(design)
        self.address = read.address((column + 1) * span, column * span)
        self.row_on = read.row_on(row)
        self.column_on = read.column_on(column)
        self.row_tap = read.row_taps((row + 1) * taps, row * taps)
        self.column_tap = read.column_taps((column + 1) * taps, column * taps)


class IssuedElement:
    """An element, one cycle after its issue; without pooling its word."""

    def __init__(self, design: UnpoolDesign) -> None:
        self.valid = flag()
        self.last = flag()  # it is the last one of the run
        self.masked = flag()  # its mask bit is clear
        self.data = bits(design.fmt.width)
