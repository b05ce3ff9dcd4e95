"""Decode a position of the walk into the word that its windows use."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

from myhdl import always, block, concat, intbv

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


class MapBorders:
    """Borders of the map and distances to them, constant during a run.

    Values are in padded coordinates, or lead from them to those of the map. They are valid a cycle
    after the configuration, and before the first position.
    """

    def __init__(self, design: EngineDesign) -> None:
        size_width = design.max_size.bit_length() + 2
        room_width = (design.k * design.d + design.max_stride).bit_length()
        self.rows_end = bits(size_width)
        self.columns_end = bits(size_width)
        # from the first tap of a window, padded, to its last one
        self.reach = count(design.k)
        self.reach_aside = count(design.k) if design.sided else self.reach
        self.room = bits(room_width)  # from the first row of a window, padded, to its row limit
        self.next_room = bits(room_width)
        # from the first row of an image to the row limit of the next image
        self.image_room = bits(row_width(design))


@block
def _settle(
    clk: Bit, config: MapConfig, aside: MapConfig, borders: MapBorders, design: EngineDesign
) -> Any:
    """Compute the borders of a map; ``aside`` has the padding on the left as its padding."""
    kept, last_tap, room_width = design.k * design.d, design.k - 1, len(borders.room)

    @always(clk.posedge)
    def settle() -> None:
        # VHDL would cut a constant next to the narrow pad to its width
        all_rows = intbv(0)[room_width:]
        all_rows[:] = kept
        borders.rows_end.next = config.rows + config.pad
        borders.columns_end.next = config.columns + aside.pad
        borders.reach.next = last_tap - config.pad
        borders.room.next = all_rows - config.pad
        borders.next_room.next = all_rows - config.pad + config.stride
        borders.image_room.next = config.rows + kept

    if not design.sided:
        return settle

    @always(clk.posedge)
    def settle_aside() -> None:
        borders.reach_aside.next = last_tap - aside.pad

    return settle, settle_aside


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

    borders = MapBorders(design)
    settling = _settle(clk, config=config, aside=aside, borders=borders, design=design)

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
    def add() -> None:
        if sums:
            lying = intbv(0)[k:]
            reaches_row.next = at.top + last_tap < borders.rows_end
            need_row_inside.next = at.line + borders.reach
            need_row_border.next = at.image_row + config.rows - 1
            reaches_column.next = at.left + last_tap < borders.columns_end
            need_column_inside.next = at.left + borders.reach_aside
            leaves_row.next = at.top > config.pad
            limit_inside.next = at.line + borders.room
            limit_border.next = at.image_row + kept
            next_leaves_row.next = at.last_row or at.top + config.stride > config.pad
            if at.last_row:
                next_limit.next = at.image_row + borders.image_room
            else:
                next_limit.next = at.line + borders.next_room
            leaves_column.next = at.left > aside.pad
            if at.left > aside.pad:
                first_column_inside.next = at.left - aside.pad
            lying[:] = 0
            for t in range(k):
                if at.top + t >= config.pad and at.top + t < borders.rows_end:
                    lying[t] = 1
            tap_rows.next = lying
            lying[:] = 0
            for t in range(k):
                if at.left + t >= aside.pad and at.left + t < borders.columns_end:
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
                entry[word.need_row_top : word.need_row] = need_row_inside
            else:
                entry[word.need_row_top : word.need_row] = need_row_border
            if reaches_column:
                entry[word.need_column_top : word.need_column] = need_column_inside
            else:
                entry[word.need_column_top : word.need_column] = config.columns - 1
            if leaves_row:
                entry[word.row_limit_top : word.row_limit] = limit_inside
            else:
                entry[word.row_limit_top : word.row_limit] = limit_border
            if next_leaves_row:
                entry[word.next_row_limit_top : word.next_row_limit] = next_limit
            else:
                entry[word.next_row_limit_top : word.next_row_limit] = limit_border
            if leaves_column:
                entry[word.first_column_top : word.first_column] = first_column_inside

            # The banks that hold this data.
            for j in range(d):
                if row_ring == j:
                    entry[word.row_base_0_top : word.row_base_0] = j * row_words
                    if j != last_ring:
                        entry[word.row_base_1_top : word.row_base_1] = (j + 1) * row_words
            entry[word.column_base_0_top : word.column_base_0] = column_base
            entry[word.column_base_1_top : word.column_base_1] = column_next
            entry[word.row_shift_top : word.row_shift] = row_mod
            entry[word.column_shift_top : word.column_shift] = column_mod

            # Bank b holds tap (b - shift) modulo k.
            rotated[:] = concat(tap_rows, tap_rows)
            rotated[:] = rotated << row_mod
            entry[word.rows_on_top : word.rows_on] = rotated[2 * k : k]
            rotated[:] = concat(tap_columns, tap_columns)
            rotated[:] = rotated << column_mod
            entry[word.columns_on_top : word.columns_on] = rotated[2 * k : k]
            for b in range(k):
                if b < row_mod:
                    entry[word.rows_next + b] = 1
                if b < column_mod:
                    entry[word.columns_next + b] = 1
            if is_alone:
                entry[word.alone] = 1
            if is_final:
                entry[word.final] = 1
            head.next = entry

    return settling, add, choose
