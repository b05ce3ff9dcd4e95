"""Bundles inside the super layer: a beat is what ReLU and pooling take in one cycle, r elements."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.models.base.state_field import position_bits
from merp.models.machines.cnn_merp.params.design import EngineDesign


def beats_per_word(design: EngineDesign) -> int:
    """Beats of a group whose CUs are all in use."""
    return -(-design.n_cu // design.r)


def element_width(design: EngineDesign) -> int:
    """Bits of a pooled element: in a design that writes the state, its position is above it."""
    coded = design.state and design.pool_window > 1
    return design.fmt.width + (position_bits(design.pool_window) if coded else 0)


class BeatStep:
    """Whether a beat is issued in this cycle, and the place of the beat that is next.

    ``beat`` is its index in its position, ``ends_position`` marks the position's last beat. The
    other flags belong to the position: last of its row, in the last row of its image, in the last
    image.
    """

    def __init__(self, design: EngineDesign) -> None:
        largest = design.groups * beats_per_word(design) - 1
        self.issue = flag()  # a beat is issued
        # Wide enough for the difference to pool_latency, too.
        self.beat = count(max(largest, design.pool_latency))  # its index in its position
        self.ends_position = flag()  # it is the last beat of its position
        self.last_column = flag()  # its position is the last of its row
        self.last_row = flag()  # and in the last row of its image
        self.last_image = flag()  # and in the last image


class ResultBeat:
    """A beat, one cycle after its issue: r elements, the first in the lowest bits.

    ``results`` of its lanes complete a pooling window; 0 if the beat does not. ``last`` marks the
    last results of the run. Where the state is written, or sums leave raw, ``elements`` are the
    lanes that count, 0 without a beat, and ``ends_run`` marks the last beat of the run.
    """

    def __init__(self, design: EngineDesign) -> None:
        self.data = bits(design.r * design.sum_format.width)  # r elements, the first lowest
        self.results = count(design.r)  # lanes that complete a pooling window
        self.last = flag()  # results are the last of the run
        if design.state or design.partial:
            self.elements = count(design.r)  # lanes that count, 0 without a beat
            self.ends_run = flag()  # it is the last beat of the run


class PoolUpdate:
    """What each pooling memory does with a beat; one bit, or one address, per memory.

    Memory (a, b) of the overlap x overlap memories holds the windows whose row and column are a
    and b modulo overlap; it is bit a*overlap + b. An address depends on b only. Cycle 0 is that of
    the beat: the fields come in the cycles of their comments. Those of cycle -1, its issue, are
    for the beat that is next, and stay until it is issued.
    """

    def __init__(self, design: EngineDesign) -> None:
        memories = design.pool_overlap**2
        self.address_width = max(1, (design.pool_words - 1).bit_length())
        self.read = bits(memories)  # -1: the beat's elements lie in the memory's open window
        self.address = bits(design.pool_overlap * self.address_width)  # -1
        self.bypass = bits(memories)  # 0: the word was written while it was read: take that
        self.fresh = bits(memories)  # 1: they are the first ones of it
        self.store = bits(memories)  # pool_latency - 1: the combined elements are written
        self.store_address = bits(design.pool_overlap * self.address_width)  # pool_latency - 1
        self.deliver = bits(memories)  # pool_latency - 1: they are complete; one bit at most


class Closing:
    """Whether the position at hand closes a pooling window."""

    def __init__(self) -> None:
        self.window = flag()  # it is the last one of a window
        self.last = flag()  # it is so for the last window of the run


class Issue:
    """What ``beat_issue`` issues, and what it has to know about the beat that is next.

    permit  (where the state is written, or sums leave raw) that beat has a place there
    """

    def __init__(
        self, step: BeatStep, beat: ResultBeat, closing: Closing, permit: Bit = None
    ) -> None:
        self.step = step
        self.beat = beat  # the same one cycle later, with its elements
        self.closing = closing
        self.permit: Any = permit


class Results:
    """What a beat gives, behind pooling."""

    def __init__(self, elements: Word, number: Word, last: Bit) -> None:
        self.elements = elements  # of the lanes; of a state, each has its position above it
        self.number = number  # how many lanes count
        self.last = last  # they are the run's last ones


class FieldSizes:
    """How long the fields of the state are."""

    def __init__(self, together: Bit, size: Word) -> None:
        self.together = together  # single bits, side by side in the lowest places, zeros above
        self.size = size  # bits of a field otherwise


class OutputStreams:
    """Streams that leave the super layer.

    state    (in a design that writes it) bytes of the state that backward propagation needs
    partial  (in a design for partial sums) sums in the accumulator's format, in the order of maps
    """

    def __init__(
        self, maps: Stream, state: Stream | None = None, partial: Stream | None = None
    ) -> None:
        self.maps = maps  # words in the order image, row, column, map, or beats of several
        self.state: Any = state
        self.partial: Any = partial


class PoolSteps:
    """A walk along rows or columns of output positions.

    last  (where windows may hang over the edges) the index at hand is the last one
    """

    def __init__(self, last: Bit = None) -> None:
        self.restart = flag()  # it goes to index 0; this wins over advance
        self.advance = flag()  # it goes to the next index
        self.last: Any = last


class PoolSizes:
    """Pooling windows along one direction.

    pad  (where windows may hang over the edges) indices by which the first one begins ahead
    """

    def __init__(self, window: Word, stride: Word, pooled: Word, pad: Word = None) -> None:
        self.window = window  # indices of each
        self.stride = stride  # distance of their first ones
        self.pooled = pooled  # how many windows there are
        self.pad: Any = pad


class OpenWindows:
    """Windows that the index at hand lies in; bit j is of a number that is j modulo overlap."""

    def __init__(self, overlap: int) -> None:
        self.covers = bits(overlap)  # it lies in that window
        self.opens = bits(overlap)  # it is that window's first index
        self.closes = bits(overlap)  # it is that window's last index
        self.closes_last = flag()  # it is the last index of the last window
