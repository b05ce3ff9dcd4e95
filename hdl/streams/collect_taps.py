"""Collect the elements of a kernel, one after the other, into the word of the kernel."""

from __future__ import annotations

from typing import Any

from myhdl import always, block, concat

from merp.hdl.base.signals import Stream
from merp.hdl.conversion.entity import Bit, Word


@block
def _from_above(clk: Bit, sink: Stream, collected: Word, width: int) -> Any:
    """Shift each accepted word in at the top, so that the first of k*k ends up lowest."""
    top = len(collected)

    @always(clk.posedge)
    def shift() -> None:
        if sink.valid and sink.ready:
            collected.next = concat(sink.data, collected[top:width])

    return shift


@block
def _from_below(clk: Bit, sink: Stream, collected: Word, width: int) -> Any:
    """Shift each accepted word in at the bottom, so that the last of k*k ends up lowest."""
    kept = len(collected) - width

    @always(clk.posedge)
    def shift() -> None:
        if sink.valid and sink.ready:
            collected.next = concat(collected[kept:], sink.data)

    return shift


@block
def _single(clk: Bit, sink: Stream, collected: Word) -> Any:
    """Take each accepted word, which is a complete 1 x 1 kernel."""

    @always(clk.posedge)
    def take() -> None:
        if sink.valid and sink.ready:
            collected.next = sink.data

    return take


@block
def collect_taps(clk: Bit, sink: Stream, collected: Word, width: int, rotated: bool) -> Any:
    """Collect words of ``width`` bits into ``collected``, one cycle after each transfer.

    The first word is lowest; with ``rotated`` it is highest, which rotates the kernel by 180
    degrees.
    """
    if len(collected) == width:
        collect = _single(clk, sink=sink, collected=collected)
    else:
        collect = (_from_below if rotated else _from_above)(
            clk, sink=sink, collected=collected, width=width
        )
    return collect
