"""Output positions in raster order, each with everything its windows need to know.

CNN-MERP section IV.D and figure 4 (the walk of the window), section VI.B (only valid positions).
"""

from __future__ import annotations

from typing import Any

from myhdl import always, intbv

from merp.hdl.bundles import MapConfig, bits, count, flag
from merp.hdl.entity import entity
from merp.hdl.gradient_bundles import RowMapConfig
from merp.hdl.position_word import PositionWord, row_width
from merp.models.params.design import Design


@entity
def positions(
    clk: Any,
    rst: Any,
    start: Any,
    config: MapConfig,
    take: Any,
    valid: Any,
    head: Any,
    design: Design,
) -> Any:
    """List the output positions of a run; with a RowMapConfig each row config.sweeps times.

    Rows and columns are kept in padded coordinates (the window of position (r, c) starts at
    row r*stride), so that nothing is negative; a map row of the padded row x is x - pad.

    take   in   the head is used in this cycle
    valid  out  head holds a position
    head   out  the position, as laid out in position_word

    Latency: the first head 2 cycles after start. Throughput: a position per cycle.
    Reset: no position is valid.
    """
    word = PositionWord(design)
    width = word.width
    k = design.k
    last_tap = k - 1
    d = design.d
    last_ring = d - 1
    row_words = design.row_words
    size_width = design.max_size.bit_length() + 2  # padded coordinates
    lines_width = row_width(design)

    active = flag()
    again = flag()  # the row at hand is listed once more; nobody drives it but where rows are swept
    out_row = bits(word.column_width)
    out_column = bits(word.column_width)
    image = count(design.max_images)
    image_row = bits(lines_width)  # rows of the images before this one
    top = bits(size_width)  # first row and column of the window, padded coordinates
    left = bits(size_width)
    image_mod = count(k)  # ring place of the image's first window row
    image_ring = count(d)
    row_mod = count(k)  # ring place of this window's first row
    row_ring = count(d)
    column_mod = count(k)
    column_next = bits(word.word_width)  # words before the block right of the window's first

    (need_column, need_column_top) = (word.need_column, word.need_column_top)
    (need_row, need_row_top) = (word.need_row, word.need_row_top)
    (first_row, first_row_top) = (word.first_row, word.first_row_top)
    (next_first_row, next_first_row_top) = (word.next_first_row, word.next_first_row_top)
    (first_column, first_column_top) = (word.first_column, word.first_column_top)
    (row_base_0, row_base_0_top) = (word.row_base_0, word.row_base_0_top)
    (row_base_1, row_base_1_top) = (word.row_base_1, word.row_base_1_top)
    (column_base_0, column_base_0_top) = (word.column_base_0, word.column_base_0_top)
    (column_base_1, column_base_1_top) = (word.column_base_1, word.column_base_1_top)
    rows_on = word.rows_on
    columns_on = word.columns_on
    rows_next = word.rows_next
    columns_next = word.columns_next
    (row_shift, row_shift_top) = (word.row_shift, word.row_shift_top)
    (column_shift, column_shift_top) = (word.column_shift, word.column_shift_top)
    alone = word.alone
    final = word.final

    @always(clk.posedge)
    def walk() -> None:
        if take:
            valid.next = False
        if active and (take or not valid):
            entry = intbv(0)[width:]
            place = intbv(0, min=0, max=4 * k + 4)
            ring = intbv(0, min=0, max=4 * d + 4)
            tap = intbv(0, min=0, max=4 * k + 4)
            rows_end = intbv(0)[size_width:]  # the map's borders, padded coordinates
            columns_end = intbv(0)[size_width:]
            end_of_row = intbv(0)[1:]
            end_of_sweeps = intbv(0)[1:]
            end_of_image = intbv(0)[1:]
            end_of_run = intbv(0)[1:]
            rows_end[:] = config.rows
            rows_end[:] = rows_end + config.pad
            columns_end[:] = config.columns
            columns_end[:] = columns_end + config.pad
            end_of_row[:] = 0
            end_of_sweeps[:] = 0
            end_of_image[:] = 0
            end_of_run[:] = 0
            if out_column + 1 == config.out_columns:
                end_of_row[:] = 1
                if not again:
                    end_of_sweeps[:] = 1
                    if out_row + 1 == config.out_rows:
                        end_of_image[:] = 1
                        if image + 1 == config.images:
                            end_of_run[:] = 1

            # What the windows of this position need, and what must still be kept for them.
            entry[:] = 0
            if left + last_tap < columns_end:
                entry[need_column_top:need_column] = left + last_tap - config.pad
            else:
                entry[need_column_top:need_column] = config.columns - 1
            if top + last_tap < rows_end:
                entry[need_row_top:need_row] = image_row + top + last_tap - config.pad
            else:
                entry[need_row_top:need_row] = image_row + config.rows - 1
            if top > config.pad:
                entry[first_row_top:first_row] = image_row + top - config.pad
            else:
                entry[first_row_top:first_row] = image_row
            if out_row + 1 == config.out_rows:
                entry[next_first_row_top:next_first_row] = image_row + config.rows
            elif top + config.stride > config.pad:
                entry[next_first_row_top:next_first_row] = (
                    image_row + top + config.stride - config.pad
                )
            else:
                entry[next_first_row_top:next_first_row] = image_row
            if left > config.pad:
                entry[first_column_top:first_column] = left - config.pad

            # Where the banks hold them. A first block of columns that lies in the padding alone
            # is never read; its address only has to exist.
            for j in range(d):
                if row_ring == j:
                    entry[row_base_0_top:row_base_0] = j * row_words
                    if j != last_ring:
                        entry[row_base_1_top:row_base_1] = (j + 1) * row_words
            entry[column_base_1_top:column_base_1] = column_next
            if column_next >= config.inputs:
                entry[column_base_0_top:column_base_0] = column_next - config.inputs
            entry[row_shift_top:row_shift] = row_mod
            entry[column_shift_top:column_shift] = column_mod

            # Bank b holds tap (b - shift) modulo k.
            for b in range(k):
                tap[:] = b
                if b < row_mod:
                    entry[rows_next + b] = 1
                    tap[:] = tap + k
                tap[:] = tap - row_mod
                if top + tap >= config.pad and top + tap < rows_end:
                    entry[rows_on + b] = 1
            for b in range(k):
                tap[:] = b
                if b < column_mod:
                    entry[columns_next + b] = 1
                    tap[:] = tap + k
                tap[:] = tap - column_mod
                if left + tap >= config.pad and left + tap < columns_end:
                    entry[columns_on + b] = 1

            if end_of_run == 1:
                entry[alone] = 1
                entry[final] = 1
            if end_of_row == 1 and not config.pair_rows:
                entry[alone] = 1
            head.next = entry
            valid.next = True

            # The next position.
            if end_of_run == 1:
                active.next = False
            if end_of_row == 1:
                out_column.next = 0
                left.next = 0
                if config.pad == 0:
                    column_mod.next = 0
                    column_next.next = config.inputs
                else:
                    column_mod.next = k - config.pad
                    column_next.next = 0
            else:
                out_column.next = out_column + 1
                left.next = left + config.stride
                place[:] = column_mod + config.stride_mod
                if place >= k:
                    column_mod.next = place - k
                    column_next.next = column_next + config.stride_words + config.inputs
                else:
                    column_mod.next = place
                    column_next.next = column_next + config.stride_words
            if end_of_image == 1:
                image.next = image + 1
                image_row.next = image_row + config.rows
                out_row.next = 0
                top.next = 0
                place[:] = image_mod + config.rows_mod
                ring[:] = image_ring + config.rows_ring
            elif end_of_sweeps == 1:
                out_row.next = out_row + 1
                top.next = top + config.stride
                place[:] = row_mod + config.stride_mod
                ring[:] = row_ring + config.stride_ring
            else:
                place[:] = row_mod
                ring[:] = row_ring
            if place >= k:
                place[:] = place - k
                ring[:] = ring + 1
            if ring >= d:
                ring[:] = ring - d
            row_mod.next = place
            row_ring.next = ring
            if end_of_image == 1:
                image_mod.next = place
                image_ring.next = ring

        if start:
            active.next = True
            valid.next = False
            image.next = 0
            image_row.next = 0
            out_row.next = 0
            out_column.next = 0
            top.next = 0
            left.next = 0
            if config.pad == 0:
                image_mod.next = 0
                image_ring.next = 0
                row_mod.next = 0
                row_ring.next = 0
                column_mod.next = 0
                column_next.next = config.inputs
            else:
                image_mod.next = k - config.pad
                image_ring.next = last_ring
                row_mod.next = k - config.pad
                row_ring.next = last_ring
                column_mod.next = k - config.pad
                column_next.next = 0
        if rst:
            active.next = False
            valid.next = False

    if not isinstance(config, RowMapConfig):
        return walk

    sweeps_left = count(design.kernel_words)  # of this row, this one included

    @always(clk.posedge)
    def sweep() -> None:
        if active and (take or not valid) and out_column + 1 == config.out_columns:
            if again:
                sweeps_left.next = sweeps_left - 1
                again.next = sweeps_left != 2
            else:
                sweeps_left.next = config.sweeps
                again.next = config.sweeps != 1
        if start:
            sweeps_left.next = config.sweeps
            again.next = config.sweeps != 1

    return walk, sweep
