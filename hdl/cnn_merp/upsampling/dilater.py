"""Dilation of delta maps: zeros between the deltas of a convolution with a stride.

Source: CNN-MERP, section III.B. The zeros are made on chip and never cross a port, but each zero
costs a cycle and, as an element of windows, slots.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.ports.deltas import DilateConfig
from merp.hdl.conversion.entity import Bit, entity
from merp.models.machines.cnn_merp.params.delta_registers import MAX_DILATION
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def dilater(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: DilateConfig,
    sink: Stream,
    source: Stream,
    framing_error: Bit,
    design: EngineDesign,
) -> Any:
    """Pass the words of every stride-th row and column, and +0 for all others.

    sink, source   in, out  words in the order image, row, column, map
    framing_error  out      last arrived with a word other than the last of the stream; until start

    Zeros may follow the last input word; last is set with the last output word. Latency: none, a
    word passes through. Throughput: a word per cycle. Reset: nothing is passed.
    """
    active = flag()
    images_left = count(design.max_images)
    rows_left = count(design.max_size)  # of this image, this row included
    columns_left = count(design.max_size)
    maps_left = bits(len(config.maps))
    row_phase = count(MAX_DILATION)  # rows since the last one that was passed
    column_phase = count(MAX_DILATION)
    passes = flag()
    sent = flag()
    final = flag()
    final_passed = flag()

    @always_comb
    def choose() -> None:
        passes.next = active and row_phase == 0 and column_phase == 0
        final.next = images_left == 1 and rows_left == 1 and columns_left == 1 and maps_left == 1
        # No further row, and no further column of this row, is passed.
        final_passed.next = (
            images_left == 1
            and rows_left <= config.stride
            and columns_left <= config.stride
            and maps_left == 1
        )

    @always_comb
    def carry() -> None:
        source.valid.next = active and (sink.valid or not passes)
        source.last.next = final
        source.data.next = 0
        if passes:
            source.data.next = sink.data
        sink.ready.next = passes and source.ready
        sent.next = active and source.ready and (sink.valid or not passes)

    @always(clk.posedge)
    def walk() -> None:
        if sent:
            if passes and sink.last != final_passed:
                framing_error.next = True
            if maps_left != 1:
                maps_left.next = maps_left - 1
            else:
                maps_left.next = config.maps
                if columns_left != 1:
                    columns_left.next = columns_left - 1
                    if column_phase + 1 == config.stride:
                        column_phase.next = 0
                    else:
                        column_phase.next = column_phase + 1
                else:
                    columns_left.next = config.columns
                    column_phase.next = 0
                    if rows_left != 1:
                        rows_left.next = rows_left - 1
                        if row_phase + 1 == config.stride:
                            row_phase.next = 0
                        else:
                            row_phase.next = row_phase + 1
                    else:
                        rows_left.next = config.rows
                        row_phase.next = 0
                        images_left.next = images_left - 1
                        if images_left == 1:
                            active.next = False
        if start:
            active.next = True
            images_left.next = config.images
            rows_left.next = config.rows
            columns_left.next = config.columns
            maps_left.next = config.maps
            row_phase.next = 0
            column_phase.next = 0
            framing_error.next = False
        if rst:
            active.next = False
            framing_error.next = False

    return choose, carry, walk
