"""Sums of products that take turns in one adder of several cycles."""

from __future__ import annotations

from typing import Any

from myhdl import always

from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.base.interface import GivenPorts, given_all
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat


class SumStore(GivenPorts):
    """When and where a sum is stored: ``write`` and its place ``written``, by their own names."""

    MEMBERS = given_all(write=Bit, written=Word)


@entity
def turn_sum(
    clk: Bit,
    place: Word,
    begin: Bit,
    first: Word,
    product: Word,
    store: SumStore,
    word: Word,
    fmt: FloatFormat,
    words: int,
    latency: int,
) -> Any:
    """Add a product per cycle to one of several sums.

    place    in   the sum that is read
    begin    in   the sum has no product yet: it is read as first
    first    in   start of the sum
    product  in   one cycle after place: the product that is added to this sum
    write    in   latency + 1 cycles after place: the sum is stored
    written  in   place of the sum that is stored
    word     out  the sum, one cycle after place

    The sums are in a memory. A sum that is read while it is stored is the new sum. Latency: latency
    + 1 cycles from place to the stored sum. Throughput: a product per cycle, if a sum waits latency
    cycles for its next product. Reset: none, begin starts a sum.
    """
    if words <= latency:
        raise ValueError(f"words must be at least {latency + 1}, not {words}")
    write, written = store.write, store.written
    memory = [bits(fmt.width) for _ in range(words)]
    total = bits(fmt.width)

    @always(clk.posedge)
    def access() -> None:
        if write:
            memory[written].next = total
        if begin:
            word.next = first
        elif write and written == place:
            word.next = total
        else:
            word.next = memory[place]

    return access, fp_add(clk, a=word, b=product, y=total, fmt=fmt, latency=latency)
