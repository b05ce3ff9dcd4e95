"""Sums of products of one kernel element in one lane: an adder that serves several sums in turn."""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat


@entity
def gradient_sum(
    clk: Bit,
    place: Word,
    clear: Bit,
    product: Word,
    write: Bit,
    written: Word,
    word: Word,
    fmt: FloatFormat,
    latency: int,
) -> Any:
    """Add a product per cycle to one of latency + 1 sums.

    place    in   the sum that is read
    clear    in   the sum is read as +0: it has no product yet
    product  in   one cycle after place: the product that is added to this sum
    write    in   latency + 1 cycles after place: the sum is stored
    written  in   place of the sum that is stored
    word     out  the sum, one cycle after place

    The sums are in a memory. A sum that is read while it is stored is the new sum. Latency: latency
    + 1 cycles from place to the stored sum. Throughput: a product per cycle, if the sums take
    turns. Reset: none, clear begins a sum.
    """
    width = fmt.width
    memory = [bits(width) for _ in range(latency + 1)]
    total = bits(width)

    @always(clk.posedge)
    def access() -> None:
        if write:
            memory[written].next = total
        if clear:
            word.next = 0
        elif write and written == place:
            word.next = total
        else:
            word.next = memory[place]

    return access, fp_add(clk, a=word, b=product, y=total, fmt=fmt, latency=latency)
