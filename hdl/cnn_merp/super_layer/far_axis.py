"""Pooling windows along rows or columns, where several of them hang over an edge."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.base.signals import bits, count
from merp.hdl.cnn_merp.super_layer.super_layer_ports import OpenWindows, PoolSizes, PoolSteps
from merp.hdl.conversion.entity import Bit


@block
def far_axis(
    clk: Bit, steps: PoolSteps, sizes: PoolSizes, windows: OpenWindows, overlap: int
) -> Any:
    """Walk where several windows may be open at index 0 and at the last index.

    From the last index on, each index closes the oldest window alone, because one beat has a place
    for one result. The walk has as many indices behind the last one as that takes. No window ends
    there by its own size before its turn: such ends are a stride apart, and turns are one index
    apart.
    """
    window, stride, pad, at_first = sizes.window, sizes.stride, sizes.pad, sizes.at_first
    covers, opens, closes = windows.covers, windows.opens, windows.closes
    size = len(window)
    reach = max(size, len(stride)) + 1
    first = bits(size)  # indices of the first window, from index 0 on
    starts = [bits(size) for _ in range(overlap)]  # indices left in each window at index 0
    left = [bits(size) for _ in range(overlap)]  # indices left, this one included
    to_next = count((1 << len(stride)) - 1)  # advances left until the next window begins
    window_mod = count(overlap - 1)  # number of this window modulo overlap
    oldest = bits(overlap)  # one-hot: the open window that began first
    to_open = count((1 << len(sizes.pooled)) - 1)
    to_close = count((1 << len(sizes.pooled)) - 1)
    ends = bits(overlap)  # windows that end by their own size
    last = overlap - 1

    @always_comb
    def shorten() -> None:
        first.next = 0
        if pad < window:
            first.next = window - pad

    @always_comb
    def begin() -> None:
        length = intbv(0)[reach:]
        length[:] = first
        for j in range(overlap):
            starts[j].next = 0
            if j < at_first:
                starts[j].next = length[size:]
                length[:] = length + stride

    @always_comb
    def end() -> None:
        if steps.last:
            closes.next = covers & oldest
        else:
            closes.next = ends

    @always(clk.posedge)
    def walk() -> None:
        if steps.restart:
            ends.next = 0
            for j in range(overlap):
                covers.next[j] = j < at_first
                opens.next[j] = j < at_first
                left[j].next = starts[j]
            if first == 1:
                ends.next[0] = True
            oldest.next = 1
            to_next.next = sizes.next_begin
            if at_first == overlap:
                window_mod.next = 0
            else:
                window_mod.next = at_first
            to_open.next = sizes.pooled - at_first
            to_close.next = sizes.pooled
        elif steps.advance:
            for j in range(overlap):
                if to_next == 1 and to_open != 0 and window_mod == j:
                    covers.next[j] = True
                    opens.next[j] = True
                    ends.next[j] = window == 1
                    left[j].next = window
                elif covers[j] and not closes[j]:
                    opens.next[j] = False
                    ends.next[j] = left[j] == 2
                    left[j].next = left[j] - 1
                else:
                    covers.next[j] = False
                    opens.next[j] = False
                    ends.next[j] = False
            if to_next != 1:
                to_next.next = to_next - 1
            else:
                to_next.next = stride
                if to_open != 0:
                    to_open.next = to_open - 1
                if window_mod == overlap - 1:
                    window_mod.next = 0
                else:
                    window_mod.next = window_mod + 1
            if closes != 0:
                to_close.next = to_close - 1
                if oldest[last]:
                    oldest.next = 1
                else:
                    oldest.next = oldest << 1

    @always_comb
    def finish() -> None:
        windows.closes_last.next = closes != 0 and to_close == 1

    return shorten, begin, end, walk, finish
