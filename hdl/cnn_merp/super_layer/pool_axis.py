"""The pooling windows of an element, along rows or along columns."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import bits, count
from merp.hdl.cnn_merp.super_layer.far_axis import far_axis
from merp.hdl.cnn_merp.super_layer.super_layer_ports import OpenWindows, PoolSizes, PoolSteps
from merp.hdl.conversion.entity import Bit, entity


@entity
def pool_axis(
    clk: Bit,
    steps: PoolSteps,
    sizes: PoolSizes,
    windows: OpenWindows,
    overlap: int,
) -> Any:
    """Walk along one direction and track up to overlap open windows.

    steps    in   moves of the walk; a window that is open at the last index ends there
    sizes    in   sizes of the windows
    windows  out  windows of the current index

    Windows that would extend beyond the edge are not counted in pooled and are never opened, except
    a window that is allowed to do so. The flags of an index are valid in the cycle after advance or
    restart. Throughput: an index per cycle. Reset: none, begin with restart.
    """
    window, stride, pad = sizes.window, sizes.stride, sizes.pad
    if sizes.at_first is not None:
        return far_axis(clk, steps=steps, sizes=sizes, windows=windows, overlap=overlap)
    covers, opens, closes = windows.covers, windows.opens, windows.closes
    left = [count((1 << len(window)) - 1) for _ in range(overlap)]  # indices, this one included
    to_next = count((1 << len(stride)) - 1)  # advances left until the next window begins
    window_mod = count(overlap - 1)  # number of this window modulo overlap
    second = 1 % overlap
    to_open = count((1 << len(sizes.pooled)) - 1)
    to_close = count((1 << len(sizes.pooled)) - 1)
    first, until = window, stride  # indices left in the first window, and until the second one
    ends = closes  # windows that end by their own size
    if pad is not None:
        first, until, ends = bits(len(window)), bits(len(stride)), bits(overlap)

    @always(clk.posedge)
    def walk() -> None:
        if steps.restart:
            opens.next = 1
            covers.next = 1
            ends.next = 0
            if first == 1:
                ends.next = 1
            left[0].next = first
            to_next.next = until
            window_mod.next = second
            to_open.next = sizes.pooled - 1
            to_close.next = sizes.pooled
        elif steps.advance:
            for j in range(overlap):
                if to_next == 1 and to_open != 0 and window_mod == j:
                    covers.next[j] = True
                    opens.next[j] = True
                    ends.next[j] = window == 1
                    left[j].next = window
                elif covers[j] and not ends[j]:
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

    @always_comb
    def finish() -> None:
        windows.closes_last.next = closes != 0 and to_close == 1

    if pad is None:
        return walk, finish

    @always_comb
    def begin() -> None:
        first.next = 0
        until.next = 0
        if pad < window:
            first.next = window - pad
        if pad < stride:
            until.next = stride - pad

    @always_comb
    def end() -> None:
        if steps.last:
            closes.next = covers
        else:
            closes.next = ends

    return walk, finish, begin, end
