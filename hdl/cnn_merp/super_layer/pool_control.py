"""Where the elements of a beat go in the pooling memories."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, intbv

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.super_layer.pool_axis import pool_axis
from merp.hdl.cnn_merp.super_layer.pool_strobes import pool_strobes
from merp.hdl.cnn_merp.super_layer.super_layer_ports import PoolUpdate, Step
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import Design


@block
def _same(a: Word, b: Word, y: Word) -> Any:
    """Tell whether two addresses are equal, as a vector of one bit."""

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
    step: Step,
    closes: Bit,
    closes_last: Bit,
    update: PoolUpdate,
    design: Design,
) -> Any:
    """Follow the output positions and control the pooling memories of all units.

    step         in   what drain issues in this cycle
    closes       out  the position at hand is the last one of a window
    closes_last  out  it is so for the last window of the run
    update       out  what the memories do, from the cycle of step on

    The window of pooled row y and column x lies in memory (y mod overlap, x mod overlap), a beat
    of it at address (x div overlap) * beats + beat: overlapping windows never share a memory.
    Partial results are read in the cycle of step, whose place is a register, and written
    pool_latency cycles later.
    Latency: see PoolUpdate. Throughput: a beat per cycle. Reset: none, begin with start.
    """
    overlap = design.pool_overlap
    width = update.address_width
    row_restart, row_advance = flag(), flag()
    column_restart, column_advance = flag(), flag()
    row_covers, row_opens, row_closes = bits(overlap), bits(overlap), bits(overlap)
    column_covers, column_opens, column_closes = bits(overlap), bits(overlap), bits(overlap)
    row_closes_last, column_closes_last = flag(), flag()
    at_rows: dict[str, Any] = {}
    at_columns: dict[str, Any] = {}
    if design.hanging:
        at_rows = {"pad": config.pool_top, "last": step.last_row}
        at_columns = {"pad": config.pool_left, "last": step.last_column}
    words = design.pool_words
    base = [count(words) for _ in range(overlap)]  # addresses of beat 0
    place = [count(words) for _ in range(overlap)]  # and of the beat that is next
    opening, closing = bits(overlap**2), bits(overlap**2)
    places = [each(width, 0) for each in place]
    same = [bits(1) for _ in range(overlap)]
    joined = ConcatSignal(*reversed(places)) if overlap > 1 else places[0]
    equal = ConcatSignal(*reversed(same)) if overlap > 1 else same[0]
    taken, taken_address = bits(overlap**2), bits(overlap * width)
    beat_opens, beat_closes = bits(overlap**2), bits(overlap**2)
    # The memories' write-back, one cycle after the elements; an adder puts it off.
    store = bits(overlap**2) if design.average else update.store
    store_address = bits(overlap * width) if design.average else update.store_address
    deliver = bits(overlap**2) if design.average else update.deliver

    steps = pool_strobes(
        start,
        step=step,
        row_restart=row_restart,
        row_advance=row_advance,
        column_restart=column_restart,
        column_advance=column_advance,
    )
    rows = pool_axis(
        clk,
        restart=row_restart,
        advance=row_advance,
        window=config.window,
        stride=config.stride,
        pooled=config.pooled_rows,
        covers=row_covers,
        opens=row_opens,
        closes=row_closes,
        closes_last=row_closes_last,
        overlap=overlap,
        **at_rows,
    )
    columns = pool_axis(
        clk,
        restart=column_restart,
        advance=column_advance,
        window=config.window,
        stride=config.stride,
        pooled=config.pooled_columns,
        covers=column_covers,
        opens=column_opens,
        closes=column_closes,
        closes_last=column_closes_last,
        overlap=overlap,
        **at_columns,
    )

    @always_comb
    def judge() -> None:
        closes.next = row_closes != 0 and column_closes != 0
        closes_last.next = row_closes_last and column_closes_last and step.last_image

    @always_comb
    def cross() -> None:
        covered = intbv(0)[overlap**2 :]
        opened = intbv(0)[overlap**2 :]
        closed = intbv(0)[overlap**2 :]
        for a in range(overlap):
            for b in range(overlap):
                if row_covers[a] and column_covers[b]:
                    covered[a * overlap + b] = 1
                if row_opens[a] and column_opens[b]:
                    opened[a * overlap + b] = 1
                if row_closes[a] and column_closes[b]:
                    closed[a * overlap + b] = 1
        update.read.next = covered
        opening.next = opened
        closing.next = closed

    @always(clk.posedge)
    def select() -> None:
        if step.issue:
            taken.next = update.read
            beat_opens.next = opening
            beat_closes.next = closing
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
        # A window of one element needs no address, and a run without pooling may have more beats
        # than the memories have words.
        if column_restart:
            for j in range(overlap):
                base[j].next = 0
                place[j].next = 0
        elif step.issue and config.window != 1:
            for j in range(overlap):
                if column_covers[j]:
                    place[j].next = place[j] + 1
                    if step.ends_position:
                        if column_closes[j]:
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

    parts = steps, rows, columns, judge, cross, select, account, present, meetings, meet
    if not design.average:
        return parts
    return (
        *parts,
        delay(clk, d=store, q=update.store, cycles=design.add_latency),
        delay(clk, d=store_address, q=update.store_address, cycles=design.add_latency),
        delay(clk, d=deliver, q=update.deliver, cycles=design.add_latency),
    )
