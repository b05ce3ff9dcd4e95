"""Where a pixel stands in its pooling window, and the window in the output buffer."""

from __future__ import annotations

from merp.hdl.base.signals import count, flag
from merp.models.machines.mac_array.params.design import ArrayDesign


class Pooling:
    """What becomes of a pixel; without pooling a window has one pixel."""

    def __init__(self, design: ArrayDesign) -> None:
        self.valid = flag()  # there is a pixel
        self.opens = flag()  # it is the first one of its window
        self.closes = flag()  # it is the last one of its window
        self.beside = count(design.pox - 1)  # window in the row of windows of the tile
        self.code = count((1 << design.index_bits) - 1)  # its place in the window, row by row
        # of the output buffer, its upper half the other half; with strides an atom of such a row
        self.row = count(2 * design.poy * design.max_stride - 1)
        self.column = count(design.pox - 1)  # of the atom
