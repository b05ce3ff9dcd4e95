"""The pooled elements of an element along rows or columns, and its place in each window."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.upsampling.far_unpool_axis import count_ended, far_unpool_axis
from merp.hdl.cnn_merp.upsampling.unpool_ports import AxisSizes, AxisWindows
from merp.hdl.conversion.entity import Bit, entity


@entity
def unpool_axis(
    clk: Bit,
    start: Bit,
    restart: Bit,
    advance: Bit,
    sizes: AxisSizes,
    windows: AxisWindows,
    last: Bit,
    overlap: int,
) -> Any:
    """Walk along one direction and track up to overlap open windows.

    Windows are numbered modulo overlap. Windows that would extend beyond the edge are not counted
    in pooled and are never opened, except a window that is allowed to do so.

    start, restart  in   go to index 0; the window that begins there has number 0 with start, or the
                         next number with restart
    advance         in   go to the next index
    sizes           in   sizes of the windows
    windows         out  windows that hold the index
    last            in   (if windows may extend beyond the edges) the index is the last one: the
                         window that is open there ends

    The outputs for an index are valid in the cycle after advance or restart. Throughput: an index
    per cycle. Reset: none, begin with start.
    """
    unit, reach, stride, pooled = sizes.unit, sizes.reach, sizes.stride, sizes.pooled
    pad, first_tap = sizes.pad, sizes.first_tap
    covers, taps, oldest = windows.covers, windows.taps, windows.oldest
    opens_next, newest = windows.opens_next, windows.newest
    closes, closed = windows.closes, windows.closed
    width = len(taps) // overlap
    last_number = overlap - 1
    second = 1 % overlap
    tap = [bits(width) for _ in range(overlap)]
    ends = bits(overlap)  # bit j: the index is the last one of window number j
    joined = ConcatSignal(*reversed(tap)) if overlap > 1 else tap[0]
    to_next = count((1 << len(stride)) - 1)  # advances left until the next window begins
    to_open = count((1 << len(pooled)) - 1)
    last_tap = bits(width)  # last tap of a window; unit and reach are constant during a run
    wraps = flag()
    until = stride  # indices left until the second window begins
    opening: Any = 0  # tap of a window that begins
    own_end = closes  # the index is the end of a window by the size of the window
    if pad is not None:
        until, opening, own_end = bits(len(stride)), bits(width), flag()

    @always_comb
    def present() -> None:
        taps.next = joined

    @always_comb
    def judge() -> None:
        opens_next.next = to_next == 1 and to_open != 0
        wraps.next = oldest == last_number

    @always_comb
    def finish() -> None:
        ended = False
        for i in range(overlap):
            ends.next[i] = False
            if covers[i] and tap[i] == last_tap:
                ends.next[i] = True
                ended = True
        own_end.next = ended

    @always(clk.posedge)
    def settle() -> None:
        if reach >= unit:
            last_tap.next = reach - unit

    @always(clk.posedge)
    def walk() -> None:
        if start:
            covers.next = 1
            tap[0].next = opening
            oldest.next = second
        elif restart or (advance and opens_next):
            for i in range(overlap):
                if oldest == i:
                    covers.next[i] = True
                    tap[i].next = opening
                elif restart or ends[i]:
                    covers.next[i] = False
                elif covers[i]:
                    tap[i].next = tap[i] + unit
            if wraps:
                oldest.next = 0
            else:
                oldest.next = oldest + 1
        elif advance:
            for i in range(overlap):
                if ends[i]:
                    covers.next[i] = False
                elif covers[i]:
                    tap[i].next = tap[i] + unit

    @always(clk.posedge)
    def number() -> None:
        if start or restart:
            to_next.next = until
            to_open.next = pooled - 1
            newest.next = 0
            closed.next = 0
        elif advance:
            if closes:
                closed.next = closed + 1
            if to_next != 1:
                to_next.next = to_next - 1
            else:
                to_next.next = stride
            if opens_next:
                to_open.next = to_open - 1
                newest.next = newest + 1

    parts = present, judge, finish, settle, walk, number
    if pad is None:
        return parts

    @always_comb
    def hang() -> None:
        opening.next = 0
        until.next = 0
        if start or restart:
            opening.next = first_tap
        if pad < stride:
            until.next = stride - pad

    @always_comb
    def cut() -> None:
        closes.next = own_end or (last and covers != 0)

    if sizes.at_first is None:
        return *parts, hang, cut
    far = far_unpool_axis(
        clk,
        start,
        restart=restart,
        advance=advance,
        sizes=sizes,
        windows=windows,
        tap=tap,
        ends=ends,
        to_next=to_next,
        to_open=to_open,
    )
    tally: Any = ()
    if windows.ended is not None:
        tally = count_ended(covers=covers, closes=closes, last=last, ended=windows.ended)
    return present, judge, finish, settle, cut, far, tally
