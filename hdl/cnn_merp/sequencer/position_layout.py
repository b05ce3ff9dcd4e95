"""Layout of a position: all data of an output position for the input side, in one word.

The word passes from the position generator through the lane registers of the sequencer. An
interleaving sequencer can store and select one word more easily than fourteen ports.
"""

from __future__ import annotations

from merp.hdl.cnn_merp.ports.maps import bank_reach
from merp.models.machines.cnn_merp.params.design import EngineDesign


class PositionWord:
    """Field borders, as ``name`` (low bit) and ``name_top`` (one above the high bit).

    From the low end, the fields begin with ``need_column`` and ``need_row``, the last element of
    the window inside the map. Then ``row_limit`` and ``next_row_limit`` follow. All columns of the
    rows below the first limit may be written; below the second one, only columns left of
    ``first_column``. The read of the banks and two flags follow.
    """

    def __init__(self, design: EngineDesign) -> None:
        self.row_width = row_width(design)
        self.column_width = design.max_size.bit_length()
        self.word_width = bank_reach(design).bit_length()  # addresses, in words
        k = design.k
        self.shift_width = max(1, (k - 1).bit_length())
        at = 0

        def field(width: int) -> tuple[int, int]:
            nonlocal at
            at += width
            return at - width, at

        self.need_column, self.need_column_top = field(self.column_width)
        self.need_row, self.need_row_top = field(self.row_width)
        self.row_limit, self.row_limit_top = field(self.row_width)
        self.next_row_limit, self.next_row_limit_top = field(self.row_width)
        self.first_column, self.first_column_top = field(self.column_width)
        self.row_base_0, self.row_base_0_top = field(self.word_width)
        self.row_base_1, self.row_base_1_top = field(self.word_width)
        self.column_base_0, self.column_base_0_top = field(self.word_width)
        self.column_base_1, self.column_base_1_top = field(self.word_width)
        self.rows_on, self.rows_on_top = field(k)
        self.columns_on, self.columns_on_top = field(k)
        self.rows_next, self.rows_next_top = field(k)
        self.columns_next, self.columns_next_top = field(k)
        self.row_shift, self.row_shift_top = field(self.shift_width)
        self.column_shift, self.column_shift_top = field(self.shift_width)
        self.alone, self.alone_top = field(1)  # must not be paired with its successor
        self.final, self.final_top = field(1)  # the last position of the run
        self.width = at


def row_width(design: EngineDesign) -> int:
    """Return the bits of a row number over all images of a run, and of numbers compared with it."""
    return (design.max_images * design.max_size + 4 * design.k * design.d).bit_length()
