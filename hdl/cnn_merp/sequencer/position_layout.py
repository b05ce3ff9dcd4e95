"""Layout of a position: all that the input side must know of one output position, in one word.

The word travels from the position generator through the sequencer's lane registers; one word, not
fourteen ports, is what an interleaving sequencer can store and select.
"""

from __future__ import annotations

from merp.hdl.cnn_merp.ports.maps import bank_reach
from merp.models.machines.cnn_merp.params.design import EngineDesign


class PositionWord:
    """Field borders, as ``name`` (low bit) and ``name_top`` (one above the high bit).

    From the low end: ``need_column``, ``need_row`` (the window's last element that lies in the
    map), ``row_limit``, ``next_row_limit`` (the rows below may be written, all columns of them or
    those left of ``first_column``), then the read of the banks and two flags.
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
        self.alone, self.alone_top = field(1)  # not to be paired with its successor
        self.final, self.final_top = field(1)  # the run's last position
        self.width = at


def row_width(design: EngineDesign) -> int:
    """Bits of a row number counted over all images of a run, and of what is compared with it."""
    return (design.max_images * design.max_size + 4 * design.k * design.d).bit_length()
