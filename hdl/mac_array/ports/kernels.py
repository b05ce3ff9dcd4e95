"""Write ports of the kernel and bias memories."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.models.machines.mac_array.params.design import ArrayDesign


class KernelBeatWrite:
    """A beat for the kernel buffer, with a word for each of its memories."""

    def __init__(self, design: ArrayDesign) -> None:
        self.enable = flag()
        self.addr = count(design.kernel_words - 1)  # address in all memories
        self.data = bits(design.parameter_bits)  # a word per memory, the first one lowest


class BiasTileWrite:
    """The biases of a tile of output maps."""

    def __init__(self, design: ArrayDesign) -> None:
        self.enable = flag()
        self.addr = count(design.max_tiles - 1)  # number of the tile
        self.data = bits(design.parameter_bits)  # a bias per lane, lane 0 lowest
