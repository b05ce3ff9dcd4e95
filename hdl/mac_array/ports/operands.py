"""Operands of the MACs, and the second rank that holds the sums of a tile."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.models.machines.mac_array.params.design import SUM_BITS, WORD_BITS, ArrayDesign


class Operands:
    """Operands of a slot, two cycles after it was issued."""

    def __init__(self, design: ArrayDesign) -> None:
        self.valid = flag()  # a slot is present; without a slot no sum changes
        self.first = flag()  # first slot of a tile: start new sums
        self.last = flag()  # last slot of a tile: the sums are copied into the second rank
        self.biased = flag()  # the weights are deltas, which bias gradients sum, too
        self.pixels = bits(WORD_BITS * design.pixels)  # a pixel per MAC of a lane, MAC 0 lowest
        self.weights = bits(design.parameter_bits)  # a weight per lane, lane 0 lowest


class Rank:
    """The second rank: the sums of the last finished tile."""

    def __init__(self, design: ArrayDesign) -> None:
        self.copied = flag()  # pulse: from this cycle on the sums belong to another tile
        self.place = count(design.pixels)  # the MAC to read; behind the last: bias gradients
        self.sums = bits(SUM_BITS * design.pof)  # per lane, lane 0 lowest, a cycle after place
