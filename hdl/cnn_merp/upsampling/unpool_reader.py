"""The read side of un-pooling: it walks over the output elements, and decides when to issue one."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.raster import raster
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.unpool_axis import unpool_axis
from merp.hdl.cnn_merp.upsampling.unpool_lead import unpool_lead
from merp.hdl.cnn_merp.upsampling.unpool_ports import (
    AxisSizes,
    AxisWindows,
    IssuedElement,
    OfferedField,
    OfferedWord,
    OutputPlace,
    UnpoolProgress,
    address_width,
    leak_latency,
)
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@block
def _walk(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: UnpoolConfig,
    fire: Bit,
    busy: Bit,
    at: OutputPlace,
) -> Any:
    """Walk over the output elements of a run, an element with each issue."""
    element_done = flag()  # all maps of the element are done

    @always_comb
    def end() -> None:
        element_done.next = fire and at.last_channel

    @always(clk.posedge)
    def go_on() -> None:
        if fire:
            if not at.last_channel:
                at.channel.next = at.channel + 1
                at.last_channel.next = at.channel + 2 == config.maps
            else:
                at.channel.next = 0
                at.last_channel.next = config.maps == 1
                if at.last_column and at.last_row and at.last_image:
                    busy.next = False
        if start:
            busy.next = True
            at.channel.next = 0
            at.last_channel.next = config.maps == 1
        if rst:
            busy.next = False

    elements = raster(
        clk,
        start,
        advance=element_done,
        columns=config.columns,
        rows=config.rows,
        images=config.images,
        last_column=at.last_column,
        last_row=at.last_row,
        last_image=at.last_image,
    )
    return end, go_on, elements


@block
def _bases(
    clk: Bit,
    config: UnpoolConfig,
    pooled: Bit,
    restart: Bit,
    advance: Bit,
    windows: AxisWindows,
    base: list[Word],
    design: UnpoolDesign,
) -> Any:
    """Follow the address of map 0 in each column of memories: that of its newest window.

    restart, advance  in  go to column 0, or to the next one
    """
    overlap = design.overlap
    block_base = count(design.words)  # bases of the newest overlap windows in turn

    @always(clk.posedge)
    def address() -> None:
        if restart:
            block_base.next = 0
            for i in range(overlap):
                base[i].next = 0
        elif advance and windows.opens_next and pooled:
            for i in range(overlap):
                if windows.oldest == i:
                    if i == 0:
                        block_base.next = block_base + config.maps
                        base[i].next = block_base + config.maps
                    else:
                        base[i].next = block_base

    return address


def _sizes(config: UnpoolConfig, design: UnpoolDesign) -> tuple[AxisSizes, AxisSizes]:
    """Return the windows along rows and along columns."""
    above: dict[str, Any] = {}
    beside: dict[str, Any] = {}
    if design.hanging:
        above = {"pad": config.top, "first_tap": config.above}
        beside = {"pad": config.left, "first_tap": config.left}
    if config.has("open_rows"):
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
    return (
        AxisSizes(config.window, config.area, config.stride, config.pooled_rows, **above),
        AxisSizes(1, config.window, config.stride, config.pooled_columns, **beside),
    )


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
    issued: IssuedElement,
    design: UnpoolDesign,
) -> Any:
    """Issue one element per cycle to the pipeline behind the memories, which cannot stall.

    An element is issued when there is a place for it, and

      - with pooling: the newest pooled element whose window has begun has been written,
      - without pooling: its word has arrived, which then bypasses the memories,
      - with ReLU, except for max pooling: its mask bit has arrived.

    word      in   without pooling: the input words
    field     in   mask bits
    credit    in   pulse: a place is free again
    progress  in   progress of the writer; out: progress of the reader.
    issued    out  one cycle after the issue

    Throughput: an element per cycle. Reset: nothing to issue, every place free.
    """
    word_valid, word_ready, word = word.valid, word.ready, word.data
    field_valid, field_take, field_data = field.valid, field.take, field.data
    passed, read = progress.passed, issued.read
    overlap, address_bits = design.overlap, address_width(design)
    busy = flag()
    maximum, average = flag(), flag()  # local copies of the configuration
    at = OutputPlace(passed.channel)
    room = flag()
    fire, pooled, available, masked = flag(), flag(), flag(), flag()
    row_restart, row_advance, row_opens = flag(), flag(), flag()
    column_restart, column_advance = flag(), flag()
    by_rows = AxisWindows(design, len(read.row_taps), passed.row_closes, count(design.max_size))
    by_columns = AxisWindows(design, len(read.column_taps), passed.column_closes, passed.columns)
    base = [count(design.words) for _ in range(overlap)]
    place = [bits(address_bits) for _ in range(overlap)]
    joined = ConcatSignal(*reversed(place)) if overlap > 1 else place[0]
    places = design.sum_latency + CREDIT_RETURN
    if config.get("leaky") is not None:
        places += leak_latency(design)
    if config.has("open_rows"):
        by_rows.ended = passed.rows

    row_sizes, column_sizes = _sizes(config, design)
    rows = unpool_axis(
        clk,
        start,
        restart=row_restart,
        advance=row_advance,
        sizes=row_sizes,
        windows=by_rows,
        last=at.last_row if design.hanging else None,
        overlap=overlap,
    )
    columns = unpool_axis(
        clk,
        start=column_restart,
        restart=column_restart,
        advance=column_advance,
        sizes=column_sizes,
        windows=by_columns,
        last=at.last_column if design.hanging else None,
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
        masked.next = config.relu and not config.maximum and not field_data[0]
        column_advance.next = fire and at.last_channel and not at.last_column
        column_restart.next = start or (fire and at.last_channel and at.last_column)
        row_advance.next = fire and at.last_channel and at.last_column and not at.last_row
        row_restart.next = fire and at.last_channel and at.last_column and at.last_row
        # Without pooling, nothing is written that these signals could count down.
        passed.row.next = (
            pooled and fire and at.last_channel and at.last_column and passed.row_closes
        )
        row_opens.next = (
            pooled
            and fire
            and at.last_channel
            and at.last_column
            and (at.last_row or by_rows.opens_next)
        )

    @always(clk.posedge)
    def fetch() -> None:
        issued.valid.next = fire and not rst
        if fire:
            issued.last.next = at.last_channel and at.last_column and at.last_row and at.last_image
            issued.masked.next = masked
            if pooled:
                for i in range(overlap):
                    place[i].next = base[i] + at.channel
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

    space = credit_gate(clk, rst, taken=fire, freed=credit, some=room, places=places)
    lead = unpool_lead(
        clk,
        start,
        config=config,
        written=progress.written,
        row_opens=row_opens,
        newest=by_columns.newest,
        at=at,
        available=available,
        overlap=overlap,
    )
    walk = _walk(clk, rst, start, config=config, fire=fire, busy=busy, at=at)
    bases = _bases(
        clk,
        config=config,
        pooled=pooled,
        restart=column_restart,
        advance=column_advance,
        windows=by_columns,
        base=base,
        design=design,
    )
    return rows, columns, space, lead, walk, bases, settle, locate, decide, step, fetch, present
