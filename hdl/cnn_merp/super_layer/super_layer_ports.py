"""Bundles inside the super layer; a beat is r elements, which ReLU and pooling take per cycle."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.models.base.state_field import position_bits
from merp.models.machines.cnn_merp.params.design import EngineDesign


def beats_per_word(design: EngineDesign) -> int:
    """Return the beats of a group whose CUs are all in use."""
    return -(-design.n_cu // design.r)


def element_width(design: EngineDesign) -> int:
    """Return the bits of a pooled element, and of its position if the design writes masks."""
    coded = design.state and design.pool_window > 1
    return design.fmt.width + (position_bits(design.pool_window) if coded else 0)


class BeatStep:
    """Whether a beat is issued in this cycle, and the place of the next beat.

    ``beat`` is its index in its position, ``ends_position`` marks the last beat of the position.
    The other flags belong to the position: last of its row, in the last row of its image, in the
    last image. In a design with ``far``, the walk continues behind the sums, where no elements come
    and windows are completed.
    """

    def __init__(self, design: EngineDesign) -> None:
        largest = design.groups * beats_per_word(design) - 1
        self.issue = flag()  # a beat is issued
        # Wide enough for the difference to pool_latency, too.
        self.beat = count(max(largest, design.pool_latency))  # its index in its position
        self.ends_position = flag()  # the beat is the last one of its position
        self.last_column = flag()  # its position is the last of its row
        self.last_row = flag()  # its position is in the last row of its image
        self.last_image = flag()  # its position is in the last image
        if design.far:
            self.edge_column = flag()  # its position is in the last column of sums, or behind it
            self.edge_row = flag()  # its position is in the last row of sums, or behind it
            self.late = flag()  # its position lies behind the sums


class ResultBeat:
    """A beat, one cycle after its issue: r elements, the first in the lowest bits.

    ``results`` is the number of its lanes that complete a pooling window; 0 if the beat completes
    none. ``last`` marks the last results of the run. Two more fields exist if masks are written, or
    sums are sent raw. ``elements`` is the number of lanes that count, 0 without a beat.
    ``ends_run`` marks the last beat of the run.
    """

    def __init__(self, design: EngineDesign) -> None:
        self.data = bits(design.r * design.sum_format.width)  # r elements, the first lowest
        self.results = count(design.r)  # lanes that complete a pooling window
        self.last = flag()  # the results are the last ones of the run
        if design.state or design.partial:
            self.elements = count(design.r)  # lanes that count, 0 without a beat
            self.ends_run = flag()  # the beat is the last one of the run with elements
        if design.far:
            self.late = flag()  # the beat has no elements: its position lies behind the sums


class PoolUpdate:
    """Control of the pooling memories for a beat; one bit, or one address, per memory.

    Memory (a, b) of the overlap x overlap memories holds the windows whose row and column are a and
    b modulo overlap. It is bit a*overlap + b. An address depends on b only. Cycle 0 is the cycle of
    the beat; the comment of a field states its cycle. Fields of cycle -1, the issue, belong to the
    next beat, and stay until it is issued.
    """

    def __init__(self, design: EngineDesign) -> None:
        memories = design.pool_overlap**2
        self.address_width = max(1, (design.pool_words - 1).bit_length())
        self.read = bits(memories)  # -1: the elements of the beat lie in the memory's open window
        self.address = bits(design.pool_overlap * self.address_width)  # -1
        self.bypass = bits(memories)  # 0: the word was written during its read: use it
        self.fresh = bits(memories)  # 1: the elements are the first ones of the window
        self.store = bits(memories)  # pool_latency - 1: the combined elements are written
        self.store_address = bits(design.pool_overlap * self.address_width)  # pool_latency - 1
        self.deliver = bits(memories)  # pool_latency - 1: they are complete; at most one bit


class Closing:
    """Whether the current position closes a pooling window."""

    def __init__(self) -> None:
        self.window = flag()  # it is the last one of a window
        self.last = flag()  # it is the last one of the last window of the run


class Issue:
    """The beat that ``beat_issue`` issues, and the conditions of the next beat.

    permit  (if masks are written, or sums are sent raw) the next beat has a place there
    """

    def __init__(
        self, step: BeatStep, beat: ResultBeat, closing: Closing, permit: Bit = None
    ) -> None:
        self.step = step
        self.beat = beat  # the same beat one cycle later, with its elements
        self.closing = closing
        self.permit: Any = permit


class Results:
    """Results of a beat, behind pooling."""

    def __init__(self, elements: Word, number: Word, last: Bit) -> None:
        self.elements = elements  # of the lanes; with masks, positions are above
        self.number = number  # number of lanes that count
        self.last = last  # they are the last ones of the run


class FieldSizes:
    """Sizes of the mask fields."""

    def __init__(self, together: Bit, size: Word) -> None:
        self.together = together  # single bits, in adjacent lowest places, zeros above
        self.size = size  # otherwise: bits of a field


class OutputStreams:
    """Output streams of the super layer.

    state    (in a design that writes masks) bytes of the ReLU/pooling masks for backward
             propagation
    partial  (in a design for partial sums) sums in the format of the accumulator, in the order of
             maps
    """

    def __init__(
        self, maps: Stream, state: Stream | None = None, partial: Stream | None = None
    ) -> None:
        self.maps = maps  # words in the order image, row, column, map, or beats of several
        self.state: Any = state
        self.partial: Any = partial


class PoolSteps:
    """A walk along rows or columns of output positions.

    last  (if windows may extend beyond the edges) the current index is the last one. With ``far``
          it may also lie behind the last one.
    """

    def __init__(self, last: Bit = None) -> None:
        self.restart = flag()  # it goes to index 0; this has priority over advance
        self.advance = flag()  # it goes to the next index
        self.last: Any = last


class PoolSizes:
    """Pooling windows along one direction.

    pad           (if windows may extend beyond the edges) indices by which the first one begins
                  ahead
    at_first      (if several may extend beyond an edge) windows that hold the first index
    next_begin    (the same) the first index, after index 0, that begins a window
    """

    def __init__(
        self,
        window: Word,
        stride: Word,
        pooled: Word,
        pad: Word = None,
        at_first: Word = None,
        next_begin: Word = None,
    ) -> None:
        self.window = window  # indices of each window
        self.stride = stride  # distance of their first indices
        self.pooled = pooled  # number of windows
        self.pad: Any = pad
        self.at_first: Any = at_first
        self.next_begin: Any = next_begin


class OpenWindows:
    """Windows of the current index; bit j belongs to a window number that is j modulo overlap."""

    def __init__(self, overlap: int) -> None:
        self.covers = bits(overlap)  # the index lies in this window
        self.opens = bits(overlap)  # the index is the first one of this window
        self.closes = bits(overlap)  # the index is the last one of this window
        self.closes_last = flag()  # the index is the last one of the last window
