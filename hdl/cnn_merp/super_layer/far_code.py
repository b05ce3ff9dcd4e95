"""Places of an index in its pooling windows, where several of them hang over an edge."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.base.signals import bits, count
from merp.hdl.cnn_merp.super_layer.super_layer_ports import PoolSteps
from merp.hdl.conversion.entity import Bit, Word


@block
def far_code(
    clk: Bit,
    steps: PoolSteps,
    stride: Word,
    amount: Word,
    place: Word,
    first_place: Word,
    at_first: Word,
    next_begin: Word,
    step: Word,
) -> Any:
    """Follow one direction where several windows may be open at index 0.

    first_place  in  place in the first window there
    at_first     in  windows that are open there
    next_begin   in  the first index, after index 0, that begins a window
    step         in  amount times stride, by which places of successive windows differ
    """
    overlap, size = len(place), len(place[0])
    starts = [bits(size) for _ in range(overlap)]
    left = count((1 << len(stride)) - 1)  # indices until the next window begins
    window_mod = count(overlap - 1)

    @always_comb
    def begin() -> None:
        there = intbv(0)[size:]
        there[:] = first_place
        for i in range(overlap):
            starts[i].next = 0
            if i < at_first:
                starts[i].next = there
                if there >= step:
                    there[:] = there - step

    @always(clk.posedge)
    def walk() -> None:
        if steps.restart:
            left.next = next_begin
            if at_first == overlap:
                window_mod.next = 0
            else:
                window_mod.next = at_first
            for i in range(overlap):
                place[i].next = starts[i]
        elif steps.advance:
            for j in range(overlap):
                if left == 1 and window_mod == j:
                    place[j].next = 0
                else:
                    place[j].next = place[j] + amount
            if left != 1:
                left.next = left - 1
            else:
                left.next = stride
                if window_mod == overlap - 1:
                    window_mod.next = 0
                else:
                    window_mod.next = window_mod + 1

    return begin, walk
