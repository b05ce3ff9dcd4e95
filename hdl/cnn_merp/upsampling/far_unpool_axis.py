"""Pooled elements along rows or columns, where several windows hang over an edge."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.upsampling.unpool_ports import AxisSizes, AxisWindows
from merp.hdl.conversion.entity import Bit, Word


@block
def far_unpool_axis(
    clk: Bit,
    start: Bit,
    restart: Bit,
    advance: Bit,
    sizes: AxisSizes,
    windows: AxisWindows,
    tap: list[Word],
    ends: Word,
    to_next: Word,
    to_open: Word,
) -> Any:
    """Walk where several windows may hold index 0; those that hold the last index end there.

    A restart ends every window, so that no index is needed behind the last one. Windows that begin
    together have successive numbers, as if they had begun one after the other.

    tap               out  place in each window
    ends              in   bit j: the index is the last one of window number j.
    to_next, to_open  out  advances left until a window begins, and windows that have not begun
    """
    at_first, unit, stride = sizes.at_first, sizes.unit, sizes.stride
    covers, oldest, opens_next = windows.covers, windows.oldest, windows.opens_next
    overlap, width = len(tap), len(tap[0])
    starts = [bits(width) for _ in range(overlap)]  # place of index 0 in each window that holds it
    reach = 2 * overlap

    @always_comb
    def begin() -> None:
        there = intbv(0)[width:]
        there[:] = sizes.first_tap
        for i in range(overlap):
            starts[i].next = 0
            if i < at_first:
                starts[i].next = there
                if there >= sizes.step:
                    there[:] = there - sizes.step

    @always(clk.posedge)
    def walk() -> None:
        turn = intbv(0, min=0, max=reach)
        if start or restart:
            covers.next = 0
            for j in range(overlap):
                turn[:] = j
                if not start:
                    turn[:] = turn + oldest
                if turn >= overlap:
                    turn[:] = turn - overlap
                for i in range(overlap):
                    if j < at_first and turn == i:
                        covers.next[i] = True
                        tap[i].next = starts[j]
            turn[:] = at_first
            if not start:
                turn[:] = turn + oldest
            if turn >= overlap:
                turn[:] = turn - overlap
            oldest.next = turn
        elif advance:
            for i in range(overlap):
                if opens_next and oldest == i:
                    covers.next[i] = True
                    tap[i].next = 0
                elif ends[i]:
                    covers.next[i] = False
                elif covers[i]:
                    tap[i].next = tap[i] + unit
            if opens_next:
                if oldest == overlap - 1:
                    oldest.next = 0
                else:
                    oldest.next = oldest + 1

    @always(clk.posedge)
    def number() -> None:
        if start or restart:
            to_next.next = sizes.next_begin
            to_open.next = sizes.pooled - at_first
            windows.newest.next = at_first - 1
            windows.closed.next = 0
        elif advance:
            if windows.closes:
                windows.closed.next = windows.closed + 1
            if to_next != 1:
                to_next.next = to_next - 1
            else:
                to_next.next = stride
            if opens_next:
                to_open.next = to_open - 1
                windows.newest.next = windows.newest + 1

    return begin, walk, number


@block
def count_ended(covers: Word, closes: Bit, last: Bit, ended: Word) -> Any:
    """Count the windows that an index ends: all that hold it if it is the last one."""
    overlap = len(covers)

    @always_comb
    def tally() -> None:
        total = intbv(0, min=0, max=overlap + 1)
        if last:
            for i in range(overlap):
                if covers[i]:
                    total[:] = total + 1
        elif closes:
            total[:] = 1
        ended.next = total

    return tally
