"""The router of figure 9: the address of each map word, and its write permission.

Source: CNN-MERP, section V.C. The write permission keeps every element until the last window with
this element has been read. It never blocks a word of the oldest open position.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.ports.maps import BankWrite, Floor, MapConfig
from merp.hdl.cnn_merp.ports.windows import Intake
from merp.hdl.conversion.entity import Bit, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def router(
    clk: Bit,
    rst: Bit,
    start: Bit,
    enable: Bit,
    config: MapConfig,
    sink: Stream,
    floor: Floor,
    bank: BankWrite,
    intake: Intake,
    design: EngineDesign,
) -> Any:
    """Accept map words and write them into the banks.

    Element (row r, column c, map i) goes to bank (r mod k, c mod k). Its address is ``(c div k)*n +
    i`` of the place of the row in the ring. Rows are counted over all images of the run. A word of
    row g and column c is accepted if

        g < first + kept  or  (g < next_first + kept  and  c < first_column)

    first and first_column are the first row and column of the oldest open position. next_first is
    the first row of the next row of positions. kept is d*k.

    enable  in   map words may be accepted (kernels are loaded)
    sink    in   map words in the order image, row, column, map
    floor   in   first + kept, next_first + kept, first_column of the oldest open position
    bank    out  the write of the word into the banks
    intake  out  place of the next word, whether the run is complete, and framing errors

    Latency: a word is in its bank 2 cycles after its transfer. Throughput: a word per cycle. Reset:
    the run is complete.
    """
    row, column, channel = intake.place.row, intake.place.column, intake.place.channel
    complete, framing_error = intake.complete, intake.framing_error
    k = design.k
    d = design.d
    row_words = design.row_words
    last_base = (d - 1) * row_words
    column_width = design.max_size.bit_length()

    rows_left = bits(column_width)  # rows left of this image, this row included
    images_left = count(design.max_images)
    bank_row = bits(k)  # one-hot
    bank_column = bits(k)
    base = count(2 * design.d * row_words)  # place of this row in the ring
    block_base = count(row_words + design.max_maps)  # base of this block of columns
    accept = flag()
    last_word = flag()

    @always_comb
    def permission() -> None:
        sink.ready.next = False
        accept.next = False
        if enable and not complete:
            if floor.open or (
                floor.valid
                and (
                    row < floor.row_limit or (row < floor.next_row_limit and column < floor.column)
                )
            ):
                sink.ready.next = True
                accept.next = sink.valid

    @always_comb
    def recognise() -> None:
        last_word.next = (
            images_left == 1
            and rows_left == 1
            and column + 1 == config.columns
            and channel + 1 == config.inputs
        )

    @always(clk.posedge)
    def route() -> None:
        bank.rows.next = 0
        bank.columns.next = 0
        if accept:
            bank.rows.next = bank_row
            bank.columns.next = bank_column
            bank.addr.next = base + block_base + channel
            bank.data.next = sink.data
            if sink.last != last_word:
                framing_error.next = True
            if channel + 1 != config.inputs:
                channel.next = channel + 1
            else:
                channel.next = 0
                if column + 1 != config.columns:
                    column.next = column + 1
                    if bank_column[k - 1]:
                        bank_column.next = 1
                        block_base.next = block_base + config.inputs
                    else:
                        bank_column.next = bank_column << 1
                else:
                    column.next = 0
                    bank_column.next = 1
                    block_base.next = 0
                    row.next = row + 1
                    if bank_row[k - 1]:
                        bank_row.next = 1
                        if base == last_base:
                            base.next = 0
                        else:
                            base.next = base + row_words
                    else:
                        bank_row.next = bank_row << 1
                    if rows_left != 1:
                        rows_left.next = rows_left - 1
                    else:
                        rows_left.next = config.rows
                        images_left.next = images_left - 1
            if last_word:
                complete.next = True
        if start:
            row.next = 0
            column.next = 0
            channel.next = 0
            rows_left.next = config.rows
            images_left.next = config.images
            bank_row.next = 1
            bank_column.next = 1
            base.next = 0
            block_base.next = 0
            complete.next = False
            framing_error.next = False
        if rst:
            complete.next = True
            framing_error.next = False

    return permission, recognise, route
