"""Signals that read the finished sums of the MAC array, and round them.

The sums are read from the second rank, the registers that hold a copy of all sums of a tile.
"""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Word
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.words import ROUNDED_BITS


class Readout:
    """Readout of the sums of a tile, or of a sweep, from the second rank, one by one."""

    def __init__(self, design: ArrayDesign) -> None:
        self.copied = flag()  # pulse: from this cycle on the rank holds other sums
        self.place = count(design.pixels)  # the MAC to read
        self.drained = flag()  # pulse: it is the last one of these sums


class PixelWords:
    """A pixel of all lanes in FP and DP: the words to which its sums are rounded."""

    def __init__(self, design: ArrayDesign) -> None:
        self.biases = bits(design.parameter_bits)  # biases of the tile, by lane; zero adds no bias
        self.words = bits(design.parameter_bits)  # six cycles after its place, lane 0 lowest
        self.clipped = bits(design.pof)  # with the words: a bit per lane, its word was clipped


class RoundedSums:
    """A beat of sums in KU, which are rounded but not yet clipped to words."""

    def __init__(self, design: ArrayDesign, shift: Word) -> None:
        self.shift = shift  # two cycles after their place: n + 15, the rounding shift
        self.rounded = bits(design.pof * ROUNDED_BITS)  # five cycles after place, lane 0 lowest
