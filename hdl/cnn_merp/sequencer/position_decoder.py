"""Decode a position of the walk into the word that its windows use."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

from myhdl import always, concat, intbv

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.maps import MapConfig
from merp.hdl.cnn_merp.sequencer.position_layout import PositionWord, row_width
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


class WindowPlace:
    """A position of the walk, with the row and column of its window's first tap.

    Rows and columns are in padded coordinates.
    """

    def __init__(self, design: EngineDesign) -> None:
        size_width = design.max_size.bit_length() + 2
        self.image_row = bits(row_width(design))  # rows of the images before this one
        self.line = bits(row_width(design))  # and rows of this image above the window
        self.top = bits(size_width)
        self.left = bits(size_width)
        self.row_mod = count(design.k)  # place in the ring of the first row of the window
        self.row_ring = count(design.d)
        self.column_mod = count(design.k)
        self.column_next = bits(PositionWord(design).word_width)  # words before the next block
        self.last_row = flag()  # last row of its image
        self.alone = flag()
        self.final = flag()

    def but(self, **signals: Any) -> Self:
        """Return the position with other signals for some of its numbers."""
        other = copy(self)
        vars(other).update(signals)
        return other


@entity
def position_decoder(
    clk: Bit,
    config: MapConfig,
    at: WindowPlace,
    sums: Bit,
    loads: Bit,
    head: Word,
    design: EngineDesign,
) -> Any:
    """Compute the word of a position in two steps: sums and comparisons, then selections.

    at     in   a position
    sums   in   take the first step with it
    loads  in   take the second step
    head   out  the position, in the format of position_layout

    Latency: 2 cycles with sums and loads high. Throughput: a position per cycle. Reset: none.
    """
    word = PositionWord(design)
    k = design.k
    d = design.d
    kept = k * d
    last_tap = k - 1
    last_ring = d - 1
    row_words = design.row_words
    size_width = design.max_size.bit_length() + 2
    lines_width = row_width(design)
    aside = config.but(pad=config.pad_left) if design.sided else config

    (need_column, need_column_top) = (word.need_column, word.need_column_top)
    (need_row, need_row_top) = (word.need_row, word.need_row_top)
    (row_limit, row_limit_top) = (word.row_limit, word.row_limit_top)
    (next_row_limit, next_row_limit_top) = (word.next_row_limit, word.next_row_limit_top)
    (first_column, first_column_top) = (word.first_column, word.first_column_top)
    (row_base_0, row_base_0_top) = (word.row_base_0, word.row_base_0_top)
    (row_base_1, row_base_1_top) = (word.row_base_1, word.row_base_1_top)
    (column_base_0, column_base_0_top) = (word.column_base_0, word.column_base_0_top)
    (column_base_1, column_base_1_top) = (word.column_base_1, word.column_base_1_top)
    (rows_on, rows_on_top) = (word.rows_on, word.rows_on_top)
    (columns_on, columns_on_top) = (word.columns_on, word.columns_on_top)
    rows_next = word.rows_next
    columns_next = word.columns_next
    (row_shift, row_shift_top) = (word.row_shift, word.row_shift_top)
    (column_shift, column_shift_top) = (word.column_shift, word.column_shift_top)
    alone = word.alone
    final = word.final

    # Values from the configuration, which is valid a cycle before the first position.
    rows_end = bits(size_width)  # the borders of the map, padded coordinates
    columns_end = bits(size_width)
    reach = count(k)  # from the first tap of a window, padded, to its last one
    reach_aside = count(k) if design.sided else reach
    room_width = (kept + design.max_stride).bit_length()
    room = bits(room_width)  # from the first row of a window, padded, to its row limit
    next_room = bits(room_width)
    # from the first row of an image to the row limit of the next image
    image_room = bits(lines_width)

    # Values of a position, after the first step.
    reaches_row, reaches_column = flag(), flag()  # the window ends within the map
    need_row_inside, need_row_border = bits(lines_width), bits(lines_width)
    need_column_inside = bits(size_width)
    leaves_row, leaves_column = flag(), flag()  # the window begins behind the border of the map
    limit_inside, limit_border = bits(lines_width), bits(lines_width)
    next_leaves_row = flag()
    next_limit = bits(lines_width)
    first_column_inside = bits(size_width)
    tap_rows, tap_columns = bits(k), bits(k)  # taps inside the map
    row_mod, row_ring = count(k), count(d)
    column_mod = count(k)
    column_base, column_next = bits(word.word_width), bits(word.word_width)
    is_alone, is_final = flag(), flag()

    @always(clk.posedge)
    def settle() -> None:
        # VHDL would cut a constant next to the narrow pad to its width
        all_rows = intbv(0)[room_width:]
        all_rows[:] = kept
        rows_end.next = config.rows + config.pad
        columns_end.next = config.columns + aside.pad
        reach.next = last_tap - config.pad
        room.next = all_rows - config.pad
        next_room.next = all_rows - config.pad + config.stride
        image_room.next = config.rows + kept

    @always(clk.posedge)
    def add() -> None:
        if sums:
            lying = intbv(0)[k:]
            reaches_row.next = at.top + last_tap < rows_end
            need_row_inside.next = at.line + reach
            need_row_border.next = at.image_row + config.rows - 1
            reaches_column.next = at.left + last_tap < columns_end
            need_column_inside.next = at.left + reach_aside
            leaves_row.next = at.top > config.pad
            limit_inside.next = at.line + room
            limit_border.next = at.image_row + kept
            next_leaves_row.next = at.last_row or at.top + config.stride > config.pad
            if at.last_row:
                next_limit.next = at.image_row + image_room
            else:
                next_limit.next = at.line + next_room
            leaves_column.next = at.left > aside.pad
            if at.left > aside.pad:
                first_column_inside.next = at.left - aside.pad
            lying[:] = 0
            for t in range(k):
                if at.top + t >= config.pad and at.top + t < rows_end:
                    lying[t] = 1
            tap_rows.next = lying
            lying[:] = 0
            for t in range(k):
                if at.left + t >= aside.pad and at.left + t < columns_end:
                    lying[t] = 1
            tap_columns.next = lying
            row_mod.next = at.row_mod
            row_ring.next = at.row_ring
            column_mod.next = at.column_mod
            column_next.next = at.column_next
            # A first block of columns that lies in the padding alone is never read; its address
            # only has to be valid.
            if at.column_next >= config.inputs:
                column_base.next = at.column_next - config.inputs
            else:
                column_base.next = 0
            is_alone.next = at.alone
            is_final.next = at.final

    @always(clk.posedge)
    def choose() -> None:
        if loads:
            entry = intbv(0)[word.width :]
            rotated = intbv(0)[3 * k :]
            entry[:] = 0
            # The data of the windows of this position, and the rows to be kept for them.
            if reaches_row:
                entry[need_row_top:need_row] = need_row_inside
            else:
                entry[need_row_top:need_row] = need_row_border
            if reaches_column:
                entry[need_column_top:need_column] = need_column_inside
            else:
                entry[need_column_top:need_column] = config.columns - 1
            if leaves_row:
                entry[row_limit_top:row_limit] = limit_inside
            else:
                entry[row_limit_top:row_limit] = limit_border
            if next_leaves_row:
                entry[next_row_limit_top:next_row_limit] = next_limit
            else:
                entry[next_row_limit_top:next_row_limit] = limit_border
            if leaves_column:
                entry[first_column_top:first_column] = first_column_inside

            # The banks that hold this data.
            for j in range(d):
                if row_ring == j:
                    entry[row_base_0_top:row_base_0] = j * row_words
                    if j != last_ring:
                        entry[row_base_1_top:row_base_1] = (j + 1) * row_words
            entry[column_base_0_top:column_base_0] = column_base
            entry[column_base_1_top:column_base_1] = column_next
            entry[row_shift_top:row_shift] = row_mod
            entry[column_shift_top:column_shift] = column_mod

            # Bank b holds tap (b - shift) modulo k.
            rotated[:] = concat(tap_rows, tap_rows)
            rotated[:] = rotated << row_mod
            entry[rows_on_top:rows_on] = rotated[2 * k : k]
            rotated[:] = concat(tap_columns, tap_columns)
            rotated[:] = rotated << column_mod
            entry[columns_on_top:columns_on] = rotated[2 * k : k]
            for b in range(k):
                if b < row_mod:
                    entry[rows_next + b] = 1
                if b < column_mod:
                    entry[columns_next + b] = 1
            if is_alone:
                entry[alone] = 1
            if is_final:
                entry[final] = 1
            head.next = entry

    if not design.sided:
        return settle, add, choose

    @always(clk.posedge)
    def settle_aside() -> None:
        reach_aside.next = last_tap - aside.pad

    return settle, settle_aside, add, choose
