"""The side of un-pooling that walks over the elements that go out, and decides when one may."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.base.raster import raster
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.unpool_axis import unpool_axis
from merp.hdl.cnn_merp.upsampling.unpool_ports import (
    Issued,
    Passed,
    UnpoolRead,
    Written,
    address_width,
)
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@entity
def unpool_reader(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: UnpoolConfig,
    word: Word,
    word_valid: Bit,
    word_ready: Bit,
    field: Word,
    field_valid: Bit,
    field_take: Bit,
    credit: Bit,
    written: Written,
    passed: Passed,
    read: UnpoolRead,
    issued: Issued,
    design: UnpoolDesign,
    places: int,
) -> Any:
    """Issue one element per cycle to the rigid pipeline behind the memories.

    An element is issued when there is one of the places for it, and

      - with pooling: the newest pooled element whose window has begun has been written,
      - without: its word is there, which then goes past the memories,
      - with ReLU, but for max pooling: its mask bit is there.

    word   in   without pooling: the words that come in
    word_valid, word_ready   in, out  handshake of word
    field_valid, field_take  in, out  handshake of field
    field   in   mask bits
    credit  in   pulse: a place is free again
    written         in   how far the writer is
    passed          out  how far the reader is
    read, issued    out  one cycle after the issue

    Throughput: an element per cycle. Reset: nothing to issue, every place free.
    """
    overlap, address_bits = design.overlap, address_width(design)
    busy = flag()
    maximum, average = flag(), flag()  # the configuration's, near at hand
    channel = passed.channel
    element_done = flag()  # all of its maps
    last_channel = flag()  # kept beside channel, as much hangs on it
    last_column, last_row, last_image = flag(), flag(), flag()
    room = flag()
    lead = count(overlap + 1)  # complete rows from the newest one that is read on
    fire, pooled, available, masked = flag(), flag(), flag(), flag()
    row_restart, row_advance, row_opens = flag(), flag(), flag()
    column_restart, column_advance = flag(), flag()
    row_on, column_on = bits(overlap), bits(overlap)
    row_taps, column_taps = bits(len(read.row_taps)), bits(len(read.column_taps))
    row_oldest, column_oldest = count(overlap - 1), count(overlap - 1)
    row_opens_next, column_opens_next = flag(), flag()
    row_newest, column_newest = count(design.max_size), count(design.max_size)
    rows_closed = count(design.max_size)
    block_base = count(design.words)  # of the newest overlap windows in turn
    base = [count(design.words) for _ in range(overlap)]
    place = [bits(address_bits) for _ in range(overlap)]
    joined = ConcatSignal(*reversed(place)) if overlap > 1 else place[0]
    at_rows: dict[str, Any] = {}
    at_columns: dict[str, Any] = {}
    if design.hanging:
        at_rows = {"pad": config.top, "first_tap": config.above, "last": last_row}
        at_columns = {"pad": config.left, "first_tap": config.left, "last": last_column}

    rows = unpool_axis(
        clk,
        start,
        restart=row_restart,
        advance=row_advance,
        unit=config.window,
        reach=config.area,
        stride=config.stride,
        pooled=config.pooled_rows,
        covers=row_on,
        taps=row_taps,
        oldest=row_oldest,
        opens_next=row_opens_next,
        newest=row_newest,
        closes=passed.row_closes,
        closed=rows_closed,
        overlap=overlap,
        **at_rows,
    )
    columns = unpool_axis(
        clk,
        start=column_restart,
        restart=column_restart,
        advance=column_advance,
        unit=1,
        reach=config.window,
        stride=config.stride,
        pooled=config.pooled_columns,
        covers=column_on,
        taps=column_taps,
        oldest=column_oldest,
        opens_next=column_opens_next,
        newest=column_newest,
        closes=passed.column_closes,
        closed=passed.columns,
        overlap=overlap,
        **at_columns,
    )

    @always(clk.posedge)
    def settle() -> None:
        maximum.next = config.maximum
        average.next = config.average

    @always_comb
    def locate() -> None:
        pooled.next = maximum or average

    @always_comb
    def check() -> None:
        # Also where no window holds the element: the newest one begun was waited for before.
        available.next = (
            lead != 0
            or written.column > column_newest
            or (written.column == column_newest and written.channel > channel)
        )

    @always_comb
    def decide() -> None:
        fire.next = False
        word_ready.next = False
        if busy and room:
            if maximum:
                fire.next = available
            elif average:
                fire.next = available and field_valid
            else:
                fire.next = word_valid and field_valid
                word_ready.next = field_valid

    @always_comb
    def step() -> None:
        field_take.next = fire and not config.maximum
        element_done.next = fire and last_channel
        masked.next = config.relu and not config.maximum and not field[0]
        column_advance.next = fire and last_channel and not last_column
        column_restart.next = start or (fire and last_channel and last_column)
        row_advance.next = fire and last_channel and last_column and not last_row
        row_restart.next = fire and last_channel and last_column and last_row
        # Without pooling nothing is written that these could count down.
        passed.row.next = pooled and fire and last_channel and last_column and passed.row_closes
        row_opens.next = (
            pooled and fire and last_channel and last_column and (last_row or row_opens_next)
        )

    @always(clk.posedge)
    def walk() -> None:
        if fire:
            if not last_channel:
                channel.next = channel + 1
                last_channel.next = channel + 2 == config.maps
            else:
                channel.next = 0
                last_channel.next = config.maps == 1
                if last_column and last_row and last_image:
                    busy.next = False
        if start:
            busy.next = True
            channel.next = 0
            last_channel.next = config.maps == 1
        if rst:
            busy.next = False

    @always(clk.posedge)
    def account() -> None:
        if written.row and not row_opens:
            lead.next = lead + 1
        elif row_opens and not written.row:
            lead.next = lead - 1
        if start:
            lead.next = 0

    @always(clk.posedge)
    def address() -> None:
        if column_restart:
            block_base.next = 0
            for i in range(overlap):
                base[i].next = 0
        elif column_advance and column_opens_next and pooled:
            for i in range(overlap):
                if column_oldest == i:
                    if i == 0:
                        block_base.next = block_base + config.maps
                        base[i].next = block_base + config.maps
                    else:
                        base[i].next = block_base

    @always(clk.posedge)
    def fetch() -> None:
        issued.valid.next = fire and not rst
        if fire:
            issued.last.next = last_channel and last_column and last_row and last_image
            issued.masked.next = masked
            if pooled:
                for i in range(overlap):
                    place[i].next = base[i] + channel
                read.row_on.next = row_on
                read.column_on.next = column_on
                read.row_taps.next = row_taps
                read.column_taps.next = column_taps
                read.row_oldest.next = row_oldest
                read.column_oldest.next = column_oldest
            else:
                issued.data.next = word

    @always_comb
    def present() -> None:
        read.address.next = joined

    space = credit_gate(clk, rst, taken=fire, freed=credit, some=room, places=places)
    elements = raster(
        clk,
        start,
        advance=element_done,
        columns=config.columns,
        rows=config.rows,
        images=config.images,
        last_column=last_column,
        last_row=last_row,
        last_image=last_image,
    )
    return (
        rows, columns, space, elements, settle, locate, check, decide, step, walk, account, address,
        fetch, present,
    )  # fmt: skip
