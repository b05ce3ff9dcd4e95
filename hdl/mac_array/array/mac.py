"""A multiplier and its accumulator: one DSP48E1 and nothing else."""

from __future__ import annotations

from typing import Any

from myhdl import always, intbv

from merp.hdl.base.signals import signed
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.mac_array.params.design import SUM_BITS, WORD_BITS
from merp.models.machines.mac_array.params.words import PRODUCT_BITS


@entity
def mac(clk: Bit, pixel: Word, weight: Word, first: Bit, add: Bit, total: Word) -> Any:
    """Sum products of words.

    pixel, weight  in   the factors, a word each
    first          in   two cycles later: the sum begins anew
    add            in   two cycles later: there is a product; without, the sum stays
    total          out  the sum, signed, three cycles after its last factors

    The choice between nothing and the sum is a statement of its own: so synthesis finds in it the
    multiplexer that the DSP48E1 has, where two forms of the addition cost LUTs and registers.
    Throughput: a product per cycle. Reset: none, begin with first.
    """
    a, b = signed(WORD_BITS), signed(WORD_BITS)
    product = signed(PRODUCT_BITS)

    @always(clk.posedge)
    def multiply() -> None:
        a.next = pixel.signed()
        b.next = weight.signed()
        product.next = a * b

    @always(clk.posedge)
    def accumulate() -> None:
        base = intbv(0, min=-(1 << SUM_BITS - 1), max=1 << SUM_BITS - 1)
        if first:
            base[:] = 0
        else:
            base[:] = total
        if add:
            total.next = base + product

    return multiply, accumulate
