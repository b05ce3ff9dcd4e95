"""Convert a position and an input map to the read of the banks for its window."""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.ports.windows import WindowFetch
from merp.hdl.cnn_merp.sequencer.position_layout import PositionWord
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def window_read(
    clk: Bit,
    enable: Bit,
    position: Word,
    channel: Word,
    fetch: WindowFetch,
    design: EngineDesign,
) -> Any:
    """Read the window of an input map at a position.

    enable    in   a read takes place in this cycle
    position  in   in the format of position_layout
    channel   in   the input map, or its word of the pixel
    fetch     out  read of the banks, one cycle later; shifts for the window block, two cycles later

    Throughput: a window per cycle. Reset: none.
    """
    read, row_shift, column_shift = fetch.read, fetch.row_shift, fetch.column_shift
    word = PositionWord(design)
    (row_base_0, row_base_0_top) = (word.row_base_0, word.row_base_0_top)
    (row_base_1, row_base_1_top) = (word.row_base_1, word.row_base_1_top)
    (column_base_0, column_base_0_top) = (word.column_base_0, word.column_base_0_top)
    (column_base_1, column_base_1_top) = (word.column_base_1, word.column_base_1_top)
    (rows_on, rows_on_top) = (word.rows_on, word.rows_on_top)
    (columns_on, columns_on_top) = (word.columns_on, word.columns_on_top)
    (rows_next, rows_next_top) = (word.rows_next, word.rows_next_top)
    (columns_next, columns_next_top) = (word.columns_next, word.columns_next_top)
    (row_shift_low, row_shift_top) = (word.row_shift, word.row_shift_top)
    (column_shift_low, column_shift_top) = (word.column_shift, word.column_shift_top)

    row_shift_1 = bits(word.shift_width)
    column_shift_1 = bits(word.shift_width)

    @always(clk.posedge)
    def load() -> None:
        read.enable.next = enable
        if enable:
            read.rows_on.next = position[rows_on_top:rows_on]
            read.columns_on.next = position[columns_on_top:columns_on]
            read.rows_next.next = position[rows_next_top:rows_next]
            read.columns_next.next = position[columns_next_top:columns_next]
            read.addr_00.next = (
                position[row_base_0_top:row_base_0]
                + position[column_base_0_top:column_base_0]
                + channel
            )
            read.addr_01.next = (
                position[row_base_0_top:row_base_0]
                + position[column_base_1_top:column_base_1]
                + channel
            )
            read.addr_10.next = (
                position[row_base_1_top:row_base_1]
                + position[column_base_0_top:column_base_0]
                + channel
            )
            read.addr_11.next = (
                position[row_base_1_top:row_base_1]
                + position[column_base_1_top:column_base_1]
                + channel
            )
            row_shift_1.next = position[row_shift_top:row_shift_low]
            column_shift_1.next = position[column_shift_top:column_shift_low]

    @always(clk.posedge)
    def hand_on() -> None:
        row_shift.next = row_shift_1
        column_shift.next = column_shift_1

    return load, hand_on
