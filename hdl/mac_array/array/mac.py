"""A multiplier and its accumulator in a single DSP48E1."""

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
    first          in   two cycles later: start a new sum
    add            in   two cycles later: add the product; without it, the sum is kept
    total          out  the sum, signed, three cycles after its last factors

    The choice between zero and the sum is a separate statement. Synthesis maps it to the
    multiplexer of the DSP48E1, whereas two forms of the addition would cost LUTs and registers.
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
