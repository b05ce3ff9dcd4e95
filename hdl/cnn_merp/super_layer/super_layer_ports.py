"""Bundles inside the super layer: a beat is what ReLU and pooling take in one cycle, r elements."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.models.base.state_field import position_bits
from merp.models.machines.cnn_merp.params.design import Design


def beats_per_word(design: Design) -> int:
    """Beats of a group whose CUs are all in use."""
    return -(-design.n_cu // design.r)


def element_width(design: Design) -> int:
    """Bits of a pooled element: in a design that writes the state, its position is above it."""
    coded = design.state and design.pool_window > 1
    return design.fmt.width + (position_bits(design.pool_window) if coded else 0)


class Step:
    """Whether a beat is issued in this cycle, and the place of the beat that is next.

    ``beat`` is its index in its position, ``ends_position`` marks the position's last beat. The
    other flags belong to the position: last of its row, in the last row of its image, in the last
    image.
    """

    def __init__(self, design: Design) -> None:
        largest = design.groups * beats_per_word(design) - 1
        self.issue = flag()  # a beat is issued
        # Wide enough for the difference to pool_latency, too.
        self.beat = count(max(largest, design.pool_latency))  # its index in its position
        self.ends_position = flag()  # it is the last beat of its position
        self.last_column = flag()  # its position is the last of its row
        self.last_row = flag()  # and in the last row of its image
        self.last_image = flag()  # and in the last image


class Beat:
    """A beat, one cycle after its issue: r elements, the first in the lowest bits.

    ``results`` of its lanes complete a pooling window; 0 if the beat does not. ``last`` marks the
    last results of the run. Where the state is written, or sums leave raw, ``elements`` are the
    lanes that count, 0 without a beat, and ``ends_run`` marks the last beat of the run.
    """

    def __init__(self, design: Design) -> None:
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

    def __init__(self, design: Design) -> None:
        memories = design.pool_overlap**2
        self.address_width = max(1, (design.pool_words - 1).bit_length())
        self.read = bits(memories)  # -1: the beat's elements lie in the memory's open window
        self.address = bits(design.pool_overlap * self.address_width)  # -1
        self.bypass = bits(memories)  # 0: the word was written while it was read: take that
        self.fresh = bits(memories)  # 1: they are the first ones of it
        self.store = bits(memories)  # pool_latency - 1: the combined elements are written
        self.store_address = bits(design.pool_overlap * self.address_width)  # pool_latency - 1
        self.deliver = bits(memories)  # pool_latency - 1: they are complete; one bit at most
