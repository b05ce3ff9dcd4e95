"""The second rank's sums on their way out: which are read, and what they are rounded to."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Word
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.words import ROUNDED_BITS


class Readout:
    """The sums of a tile, or of a sweep, are read out of the second rank one by one."""

    def __init__(self, design: ArrayDesign) -> None:
        self.copied = flag()  # pulse: from this cycle on the rank has other sums
        self.place = count(design.pixels)  # the MAC that is read
        self.drained = flag()  # pulse: it is the last one of these sums


class PixelWords:
    """A pixel of all lanes in FP and DP: the words that its sums are rounded to."""

    def __init__(self, design: ArrayDesign) -> None:
        self.biases = bits(design.parameter_bits)  # of the tile, by lane; zero: none are added
        self.words = bits(design.parameter_bits)  # six cycles after its place, lane 0 lowest
        self.clipped = bits(design.pof)  # with them: which were clipped


class RoundedSums:
    """A beat of sums in KU, which are rounded and not clipped to words yet."""

    def __init__(self, design: ArrayDesign, shift: Word) -> None:
        self.shift = shift  # two cycles after their place: n + 15, by which they are rounded
        self.rounded = bits(design.pof * ROUNDED_BITS)  # five cycles after it, lane 0 lowest
