"""Line buffer: a window that slides over a stream of beats.

The convolution element of Mazouz and Bridges uses this line buffer. So do the streaming modules of
F-CNN, where a column of several images or maps takes several beats.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.base.loop_index import loop_index
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.base.tap_delay import tap_delay
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.tap_line import TapLine


@block
def _both(one: Bit, other: Bit, both: Bit) -> Any:
    @always_comb
    def meet() -> None:
        both.next = one and other

    return meet


@entity
def tap_line(
    clk: Bit,
    start: Bit,
    advance: Bit,
    columns: Word,
    sink: Word,
    window: Word,
    params: TapLine,
    step: Word = None,
) -> Any:
    """Give a beat together with the k x k - 1 earlier beats of its window.

    start    in   the next beat is the first of a row; step and columns are stable from here on
    advance  in   the beat is taken, and the next one follows
    columns  in   columns of a row
    sink     in   a beat: an element of every lane, lane 0 lowest
    window   out  k*k elements for each lane, lane 0 lowest; within a lane, the first element of the
                  first row is lowest
    step     in   beats of a column, if max_step is above 1

    The elements of a window are step beats apart along a row, and the beats of a row apart from row
    to row. A window that crosses the left edge holds elements from the end of the row before.
    Elements before the first beat are undefined. One memory keeps k - 1 rows. Another keeps k - 1
    columns; if max_step is 1, registers do. Latency: combinational. Throughput: a beat per cycle.
    Reset: none, begin with start.
    """
    k, width, lanes = params.k, params.width, params.lanes
    beat = params.beat_width
    column, grid = bits(k * beat), bits(params.window_width)
    column_ends, last_column, next_column, row_ends = (flag() for _ in range(4))

    def element(lane: int, row: int, at: int) -> Any:
        low = at * k * beat + row * beat + lane * width
        return grid(low + width, low)

    in_order = [element(g, row, at) for g in range(lanes) for row in range(k) for at in range(k)]
    joined = ConcatSignal(*reversed(in_order))

    @always_comb
    def give() -> None:
        window.next = joined

    turns: Any = ()
    if params.max_step == 1:
        column_ends, next_column, row_ends = flag(1), advance, last_column
    else:
        index = count(params.max_step - 1)
        turns = (
            loop_index(clk, start, step=advance, size=step, index=index, final=column_ends),
            _both(one=advance, other=column_ends, both=next_column),
            _both(one=last_column, other=column_ends, both=row_ends),
        )
    place = count(params.max_columns - 1)
    return (
        give,
        turns,
        loop_index(clk, start, step=next_column, size=columns, index=place, final=last_column),
        tap_delay(
            clk, start, advance=advance, closes=row_ends, sink=sink, taps=column,
            words=params.row_beats,
        ),
        tap_delay(
            clk, start, advance=advance, closes=column_ends, sink=column, taps=grid,
            words=params.max_step,
        ),
    )  # fmt: skip
