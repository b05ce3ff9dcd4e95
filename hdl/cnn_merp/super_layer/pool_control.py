"""Addresses and control of the pooling memories for the elements of a beat."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, intbv

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, count
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.super_layer.pool_axis import pool_axis
from merp.hdl.cnn_merp.super_layer.pool_strobes import pool_strobes
from merp.hdl.cnn_merp.super_layer.super_layer_ports import (
    BeatStep,
    Closing,
    OpenWindows,
    PoolSizes,
    PoolSteps,
    PoolUpdate,
)
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _same(a: Word, b: Word, y: Word) -> Any:
    """Compare two addresses; the result is a vector of one bit."""

    @always_comb
    def compare() -> None:
        if a == b:
            y.next = 1
        else:
            y.next = 0

    return compare


@entity
def pool_control(
    clk: Bit,
    start: Bit,
    config: OutputConfig,
    step: BeatStep,
    closing: Closing,
    update: PoolUpdate,
    design: EngineDesign,
) -> Any:
    """Follow the output positions and control the pooling memories of all units.

    step     in   the beat that drain issues in this cycle
    closing  out  the current position is the last one of a window
    update   out  control of the memories, from the cycle of step on

    The window of pooled row y and column x is in memory (y mod overlap, x mod overlap), so
    overlapping windows never share a memory. A beat of it has address (x div overlap) * beats +
    beat. Partial results are read in the cycle of step, whose place is registered, and written
    pool_latency cycles later. Latency: see PoolUpdate. Throughput: a beat per cycle. Reset: none,
    begin with start.
    """
    overlap = design.pool_overlap
    width = update.address_width
    hangs, far = design.hanging, config.has("late_rows")
    to_rows = PoolSteps(last=step.last_row if hangs else None)
    to_columns = PoolSteps(last=step.last_column if hangs else None)
    if far:
        to_rows, to_columns = PoolSteps(last=step.edge_row), PoolSteps(last=step.edge_column)
    rows, columns = OpenWindows(overlap), OpenWindows(overlap)
    words = design.pool_words
    base = [count(words) for _ in range(overlap)]  # addresses of beat 0
    place = [count(words) for _ in range(overlap)]  # and of the next beat
    opens, closes = bits(overlap**2), bits(overlap**2)
    places = [each(width, 0) for each in place]
    same = [bits(1) for _ in range(overlap)]
    joined = ConcatSignal(*reversed(places)) if overlap > 1 else places[0]
    equal = ConcatSignal(*reversed(same)) if overlap > 1 else same[0]
    taken, taken_address = bits(overlap**2), bits(overlap * width)
    beat_opens, beat_closes = bits(overlap**2), bits(overlap**2)
    # The write-back of the memories, one cycle after the elements; an adder delays it.
    store = bits(overlap**2) if design.average else update.store
    store_address = bits(overlap * width) if design.average else update.store_address
    deliver = bits(overlap**2) if design.average else update.deliver

    walks = (
        pool_strobes(start, step=step, rows=to_rows, columns=to_columns),
        pool_axis(
            clk,
            steps=to_rows,
            sizes=PoolSizes(
                config.window,
                config.stride,
                config.pooled_rows,
                pad=config.pool_top if hangs else None,
                at_first=config.pool_open_rows if far else None,
                next_begin=config.pool_next_row if far else None,
            ),
            windows=rows,
            overlap=overlap,
        ),
        pool_axis(
            clk,
            steps=to_columns,
            sizes=PoolSizes(
                config.window,
                config.stride,
                config.pooled_columns,
                pad=config.pool_left if hangs else None,
                at_first=config.pool_open_columns if far else None,
                next_begin=config.pool_next_column if far else None,
            ),
            windows=columns,
            overlap=overlap,
        ),
    )

    @always_comb
    def judge() -> None:
        closing.window.next = rows.closes != 0 and columns.closes != 0
        closing.last.next = rows.closes_last and columns.closes_last and step.last_image

    @always_comb
    def cross() -> None:
        covered = intbv(0)[overlap**2 :]
        opened = intbv(0)[overlap**2 :]
        closed = intbv(0)[overlap**2 :]
        for a in range(overlap):
            for b in range(overlap):
                if rows.covers[a] and columns.covers[b]:
                    covered[a * overlap + b] = 1
                if rows.opens[a] and columns.opens[b]:
                    opened[a * overlap + b] = 1
                if rows.closes[a] and columns.closes[b]:
                    closed[a * overlap + b] = 1
        update.read.next = covered
        opens.next = opened
        closes.next = closed

    @always(clk.posedge)
    def select() -> None:
        if step.issue:
            taken.next = update.read
            beat_opens.next = opens
            beat_closes.next = closes
        else:
            taken.next = 0
            beat_closes.next = 0
        taken_address.next = update.address
        update.fresh.next = beat_opens
        store.next = taken
        store_address.next = taken_address
        deliver.next = beat_closes

    @always(clk.posedge)
    def account() -> None:
        # A window of one element needs no address. A run without pooling may have more beats than
        # the memories have words.
        if to_columns.restart:
            for j in range(overlap):
                base[j].next = 0
                place[j].next = 0
        elif step.issue and config.window != 1:
            for j in range(overlap):
                if columns.covers[j]:
                    place[j].next = place[j] + 1
                    if step.ends_position:
                        if columns.closes[j]:
                            base[j].next = place[j] + 1
                        else:
                            place[j].next = base[j]

    @always_comb
    def present() -> None:
        update.address.next = joined

    meetings = [
        _same(a=places[j], b=update.store_address((j + 1) * width, j * width), y=same[j])
        for j in range(overlap)
    ]

    @always(clk.posedge)
    def meet() -> None:
        met = intbv(0)[overlap**2 :]
        for i in range(overlap):
            for j in range(overlap):
                if update.store[i * overlap + j] and equal[j]:
                    met[i * overlap + j] = 1
        update.bypass.next = met

    parts = walks, judge, cross, select, account, present, meetings, meet
    if not design.average:
        return parts
    return (
        *parts,
        delay(clk, d=store, q=update.store, cycles=design.add_latency),
        delay(clk, d=store_address, q=update.store_address, cycles=design.add_latency),
        delay(clk, d=deliver, q=update.deliver, cycles=design.add_latency),
    )
