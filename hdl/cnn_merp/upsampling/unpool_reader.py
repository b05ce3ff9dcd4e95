"""The read side of un-pooling: it walks over the output elements, and decides when to issue one."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, intbv

from merp.hdl.base.raster import raster
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.unpool_axis import unpool_axis
from merp.hdl.cnn_merp.upsampling.unpool_ports import (
    AxisSizes,
    AxisWindows,
    IssuedElement,
    OfferedField,
    OfferedWord,
    UnpoolProgress,
    UnpoolRead,
    WriteProgress,
    address_width,
    leak_latency,
)
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@block
def _lead_far(
    clk: Bit,
    start: Bit,
    open_rows: Word,
    written: WriteProgress,
    row_opens: Bit,
    last_row: Bit,
    newest: Word,
    channel: Word,
    available: Bit,
    overlap: int,
) -> Any:
    """Decide whether the newest pooled element is written, where several windows begin together.

    The reader then waits for the last of them. ``lead`` is the number of complete rows, counted
    from the newest one that is read. It may be negative, and is therefore kept with an offset.
    """
    offset = overlap - 1
    lead = count(2 * overlap)

    @always_comb
    def check() -> None:
        available.next = lead > offset or (
            lead == offset
            and (
                written.column > newest or (written.column == newest and written.channel > channel)
            )
        )

    @always(clk.posedge)
    def account() -> None:
        begun = intbv(0, min=0, max=overlap + 1)
        begun[:] = 0
        if row_opens:
            begun[:] = 1
            if last_row:
                begun[:] = open_rows
        if written.row:
            lead.next = lead + 1 - begun
        else:
            lead.next = lead - begun
        if start:
            lead.next = overlap - open_rows

    return check, account


@entity
def unpool_reader(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: UnpoolConfig,
    word: OfferedWord,
    field: OfferedField,
    credit: Bit,
    progress: UnpoolProgress,
    read: UnpoolRead,
    issued: IssuedElement,
    design: UnpoolDesign,
) -> Any:
    """Issue one element per cycle to the pipeline behind the memories, which cannot stall.

    An element is issued when there is a place for it, and

      - with pooling: the newest pooled element whose window has begun has been written,
      - without pooling: its word has arrived, which then bypasses the memories,
      - with ReLU, except for max pooling: its mask bit has arrived.

    word          in   without pooling: the input words
    field         in   mask bits
    credit        in   pulse: a place is free again
    progress      in   progress of the writer; out: progress of the reader.
    read, issued  out  one cycle after the issue

    Throughput: an element per cycle. Reset: nothing to issue, every place free.
    """
    word_valid, word_ready, word = word.valid, word.ready, word.data
    field_valid, field_take, field_data = field.valid, field.take, field.data
    written, passed = progress.written, progress.passed
    overlap, address_bits = design.overlap, address_width(design)
    busy = flag()
    maximum, average = flag(), flag()  # local copies of the configuration
    channel = passed.channel
    element_done = flag()  # all maps of the element are done
    last_channel = flag()  # stored next to channel, because many signals depend on it
    last_column, last_row, last_image = flag(), flag(), flag()
    room = flag()
    lead = count(overlap + 1)  # complete rows, counted from the newest one that is read
    fire, pooled, available, masked = flag(), flag(), flag(), flag()
    row_restart, row_advance, row_opens = flag(), flag(), flag()
    column_restart, column_advance = flag(), flag()
    by_rows = AxisWindows(design, len(read.row_taps), passed.row_closes, count(design.max_size))
    by_columns = AxisWindows(design, len(read.column_taps), passed.column_closes, passed.columns)
    block_base = count(design.words)  # bases of the newest overlap windows in turn
    base = [count(design.words) for _ in range(overlap)]
    place = [bits(address_bits) for _ in range(overlap)]
    joined = ConcatSignal(*reversed(place)) if overlap > 1 else place[0]
    above: dict[str, Any] = {}
    beside: dict[str, Any] = {}
    far = config.has("open_rows")
    if design.hanging:
        above = {"pad": config.top, "first_tap": config.above}
        beside = {"pad": config.left, "first_tap": config.left}
    if far:
        by_rows.ended = passed.rows
        above |= {
            "at_first": config.open_rows,
            "next_begin": config.next_row,
            "step": config.step,
        }
        beside |= {
            "at_first": config.open_columns,
            "next_begin": config.next_column,
            "step": config.stride,
        }

    rows = unpool_axis(
        clk,
        start,
        restart=row_restart,
        advance=row_advance,
        sizes=AxisSizes(config.window, config.area, config.stride, config.pooled_rows, **above),
        windows=by_rows,
        last=last_row if design.hanging else None,
        overlap=overlap,
    )
    columns = unpool_axis(
        clk,
        start=column_restart,
        restart=column_restart,
        advance=column_advance,
        sizes=AxisSizes(1, config.window, config.stride, config.pooled_columns, **beside),
        windows=by_columns,
        last=last_column if design.hanging else None,
        overlap=overlap,
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
        # Also if no window holds the element: the newest one begun was waited for before.
        available.next = (
            lead != 0
            or written.column > by_columns.newest
            or (written.column == by_columns.newest and written.channel > channel)
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
        masked.next = config.relu and not config.maximum and not field_data[0]
        column_advance.next = fire and last_channel and not last_column
        column_restart.next = start or (fire and last_channel and last_column)
        row_advance.next = fire and last_channel and last_column and not last_row
        row_restart.next = fire and last_channel and last_column and last_row
        # Without pooling, nothing is written that these signals could count down.
        passed.row.next = pooled and fire and last_channel and last_column and passed.row_closes
        row_opens.next = (
            pooled and fire and last_channel and last_column and (last_row or by_rows.opens_next)
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
        elif column_advance and by_columns.opens_next and pooled:
            for i in range(overlap):
                if by_columns.oldest == i:
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
                read.row_on.next = by_rows.covers
                read.column_on.next = by_columns.covers
                read.row_taps.next = by_rows.taps
                read.column_taps.next = by_columns.taps
                read.row_oldest.next = by_rows.oldest
                read.column_oldest.next = by_columns.oldest
            else:
                issued.data.next = word

    @always_comb
    def present() -> None:
        read.address.next = joined

    places = design.sum_latency + CREDIT_RETURN
    if config.get("leaky") is not None:
        places += leak_latency(design)
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
    if far:
        lead_far = _lead_far(
            clk,
            start,
            open_rows=config.open_rows,
            written=written,
            row_opens=row_opens,
            last_row=last_row,
            newest=by_columns.newest,
            channel=channel,
            available=available,
            overlap=overlap,
        )
        return (
            rows, columns, space, elements, settle, locate, lead_far, decide, step, walk, address,
            fetch, present,
        )  # fmt: skip
    return (
        rows, columns, space, elements, settle, locate, check, decide, step, walk, account, address,
        fetch, present,
    )  # fmt: skip
