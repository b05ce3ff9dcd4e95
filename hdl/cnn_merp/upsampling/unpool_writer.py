"""The write side of un-pooling: it stores pooled elements, and decides when to overwrite one."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, concat, intbv

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.unpool_ports import (
    OfferedField,
    OfferedWord,
    ReadProgress,
    UnpoolWrite,
    WriteProgress,
    address_width,
)
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@block
def _keep_far(
    clk: Bit,
    start: Bit,
    written: WriteProgress,
    passed: ReadProgress,
    kept: Word,
    overlap: int,
) -> Any:
    """Count rows that are kept, where a row of elements may end several windows."""

    @always(clk.posedge)
    def keep() -> None:
        passing = intbv(0, min=0, max=overlap + 1)
        passing[:] = 0
        if passed.row:
            passing[:] = passed.rows
        if written.row:
            kept.next = kept + 1 - passing
        else:
            kept.next = kept - passing
        if start:
            kept.next = 0

    return keep


@entity
def unpool_writer(
    clk: Bit,
    start: Bit,
    config: UnpoolConfig,
    word: OfferedWord,
    field: OfferedField,
    passed: ReadProgress,
    written: WriteProgress,
    write: UnpoolWrite,
    design: UnpoolDesign,
) -> Any:
    """Write pooled elements into the memories.

    Pooled element (row y, column x, map i) goes to memory (y mod overlap, x mod overlap), address
    (x div overlap) * maps + i. Rows are counted over all images. It overwrites the element overlap
    rows above it. The write waits until the reader has issued the last element of the window of
    that element.

    word     in   delta (in average pooling, its share of an element); none is taken without pooling
    field    in   mask field of the element in max pooling: mask bit (with ReLU), position above it
    passed   in   progress of the reader
    write    out  write of a pooled element into a memory
    written  out  elements that may be read from the next cycle on

    A delta whose mask bit is clear is stored as +0. Latency: an element is in its memory two cycles
    after its transfer. Throughput: a word per cycle. Reset: none, begin with start.
    """
    word_valid, word_ready, word = word.valid, word.ready, word.data
    field_valid, field_take, field_data = field.valid, field.take, field.data
    overlap, width, code_bits = design.overlap, design.fmt.width, design.code_bits
    reach = 1 << address_width(design)
    row_bank, column_bank = bits(overlap), bits(overlap)  # one-hot
    base = count(design.words)  # address of map 0
    # rows from the first one whose window is not passed, without this row
    kept = count(overlap + 1)
    accept, last_channel, last_column = flag(), flag(), flag()

    @always_comb
    def permission() -> None:
        free = kept < overlap or (
            kept == overlap
            and passed.row_closes
            and (
                written.column < passed.columns
                or (
                    written.column == passed.columns
                    and passed.column_closes
                    and written.channel < passed.channel
                )
            )
        )
        ready = free and ((config.maximum and field_valid) or config.average)
        word_ready.next = ready
        accept.next = ready and word_valid

    @always_comb
    def place() -> None:
        last_channel.next = written.channel + 1 == config.maps
        last_column.next = written.column + 1 == config.pooled_columns

    @always_comb
    def tell() -> None:
        field_take.next = accept and config.maximum
        written.row.next = accept and last_channel and last_column

    @always(clk.posedge)
    def store() -> None:
        write.enable.next = 0
        if accept:
            delta = intbv(0)[width:]
            code = intbv(0)[code_bits:]
            address = intbv(0, min=0, max=reach)
            delta[:] = word
            if config.maximum:
                if config.relu:
                    code[:] = field_data[code_bits + 1 : 1]
                    if not field_data[0]:
                        delta[:] = 0
                else:
                    code[:] = field_data[code_bits:]
            address[:] = base + written.channel
            write.address.next = address
            write.data.next = concat(code, delta)
            for a in range(overlap):
                for b in range(overlap):
                    if row_bank[a] and column_bank[b]:
                        write.enable.next[a * overlap + b] = True

    @always(clk.posedge)
    def walk() -> None:
        if accept:
            if not last_channel:
                written.channel.next = written.channel + 1
            else:
                written.channel.next = 0
                if not last_column:
                    written.column.next = written.column + 1
                    if column_bank[overlap - 1]:
                        column_bank.next = 1
                        base.next = base + config.maps
                    else:
                        column_bank.next = column_bank << 1
                else:
                    written.column.next = 0
                    column_bank.next = 1
                    base.next = 0
                    if row_bank[overlap - 1]:
                        row_bank.next = 1
                    else:
                        row_bank.next = row_bank << 1
        if start:
            written.channel.next = 0
            written.column.next = 0
            row_bank.next = 1
            column_bank.next = 1
            base.next = 0

    @always(clk.posedge)
    def keep() -> None:
        if written.row and not passed.row:
            kept.next = kept + 1
        elif passed.row and not written.row:
            kept.next = kept - 1
        if start:
            kept.next = 0

    if config.has("open_rows"):
        keep_far = _keep_far(clk, start, written=written, passed=passed, kept=kept, overlap=overlap)
        return permission, place, tell, store, walk, keep_far
    return permission, place, tell, store, walk, keep
