"""Place of a pixel in its pooling window, and of the window in the output buffer."""

from __future__ import annotations

from merp.hdl.base.signals import count, flag
from merp.models.machines.mac_array.params.design import ArrayDesign


class Pooling:
    """Pooling control of a pixel; without pooling a window has one pixel."""

    def __init__(self, design: ArrayDesign) -> None:
        self.valid = flag()  # a pixel is present
        self.opens = flag()  # the pixel is the first one of its window
        self.closes = flag()  # the pixel is the last one of its window
        self.beside = count(design.pox - 1)  # window in its row of windows in the tile
        self.code = count((1 << design.index_bits) - 1)  # place in the window, row by row
        # row of the output buffer, whose upper half is the other half; with strides, an atom of
        # such a row
        self.row = count(2 * design.poy * design.max_stride - 1)
        self.column = count(design.pox - 1)  # column of the atom
