"""What the MACs multiply, and the second rank in which a tile's sums stand."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.models.machines.mac_array.params.design import SUM_BITS, WORD_BITS, ArrayDesign


class Operands:
    """Operands of a slot, two cycles after it was issued."""

    def __init__(self, design: ArrayDesign) -> None:
        self.valid = flag()  # there is a slot; without one no sum changes
        self.first = flag()  # of a tile: sums begin anew
        self.last = flag()  # of a tile: the sums are copied into the second rank
        self.biased = flag()  # the weights are deltas that bias gradients sum, too
        self.pixels = bits(WORD_BITS * design.pixels)  # of each MAC of a lane, MAC 0 lowest
        self.weights = bits(design.parameter_bits)  # of each lane, lane 0 lowest


class Rank:
    """The second rank: the sums of the last tile that was finished."""

    def __init__(self, design: ArrayDesign) -> None:
        self.copied = flag()  # pulse: from this cycle on the sums are those of another tile
        self.place = count(design.pixels)  # the MAC that is read; behind the last: bias gradients
        self.sums = bits(SUM_BITS * design.pof)  # of each lane, lane 0 lowest, a cycle after place
