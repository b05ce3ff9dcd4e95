"""Taps of kernels that have no elements, which a walk over all taps passes over."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import count, flag
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig
from merp.hdl.cnn_merp.update_unit.update_ports import ListedElement, WalkPlace
from merp.hdl.conversion.entity import Bit, Word


@block
def smaller_kernel(
    clk: Bit,
    rst: Bit,
    start: Bit,
    size: Word,
    at: WalkPlace,
    element: ListedElement,
    used: Bit,
    whole_kernel: Bit,
    kernel_over: Bit,
    k: int,
) -> Any:
    """Pass over taps behind the first ``size`` rows and columns of a kernel, a cycle for each.

    element       out  the tap, if it has an element
    used          in   the current element is used in this cycle
    whole_kernel  in   the tap is the last one of k*k
    kernel_over   out  the tap is that, or the last one with an element
    """
    row, column = count(k), count(k)
    beside, corner = flag(), flag()  # a tap without an element; the last tap with one

    @always_comb
    def recognise() -> None:
        beside.next = at.walking and not element.biases and column >= size
        corner.next = row + 1 == size and column + 1 == size

    @always_comb
    def pass_over() -> None:
        element.valid.next = at.walking and not beside
        at.advance.next = used or beside

    @always(clk.posedge)
    def go_through() -> None:
        if at.advance and at.in_kernels:
            if at.last_tap:
                row.next = 0
                column.next = 0
            elif column + 1 == k:
                row.next = row + 1
                column.next = 0
            else:
                column.next = column + 1
        if start or rst:
            row.next = 0
            column.next = 0

    @always_comb
    def end_early() -> None:
        kernel_over.next = whole_kernel or corner

    return recognise, pass_over, go_through, end_early


@block
def filled_map(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: GradientMapConfig,
    filling: Word,
    at: WalkPlace,
    kernel_over: Bit,
    taps: int,
) -> Any:
    """End a kernel in front of the last ``filling`` taps of the last input map.

    kernel_over  in  the tap is the last one of a kernel of any other input map
    """
    tap = count(taps)

    @always_comb
    def end() -> None:
        at.last_tap.next = kernel_over or (
            at.channel + 1 == config.inputs and tap + filling + 1 == taps
        )

    @always(clk.posedge)
    def tally() -> None:
        if at.advance and at.in_kernels:
            if at.last_tap:
                tap.next = 0
            else:
                tap.next = tap + 1
        if start or rst:
            tap.next = 0

    return end, tally
