"""Beats of kernels and biases on their way into their memories."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.models.machines.mac_array.params.design import ArrayDesign


class KernelBeatWrite:
    """A beat into the kernel buffer, a word into each of its memories."""

    def __init__(self, design: ArrayDesign) -> None:
        self.enable = flag()
        self.addr = count(design.kernel_words - 1)  # in all of them
        self.data = bits(design.parameter_bits)  # the word of each, the first one lowest


class BiasTileWrite:
    """The biases of a tile of output maps."""

    def __init__(self, design: ArrayDesign) -> None:
        self.enable = flag()
        self.addr = count(design.max_tiles - 1)  # number of the tile
        self.data = bits(design.parameter_bits)  # of each lane, lane 0 lowest
