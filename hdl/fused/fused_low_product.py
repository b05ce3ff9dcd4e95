"""Product of the low digits of a kernel and the activation, for fused products with one DSP.

A DSP48E1 multiplies 25 by 18 bits; the mantissa of a kernel element has 25 bits. Its low seven bits
become digits of radix 4, each of which selects 0, a, 2a or 3a. Four selections and three carry
chains thus replace the second DSP, except for the bits that are cut below the window.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, concat, modbv

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.fused import LOW_BITS, MANTISSA_BITS, TRIPLE_BITS


@block
def _digit(digit: Word, a: Word, triple: Word, term: Word, cut: int) -> Any:
    """Select 0, a, 2a or 3a without its lowest ``cut`` bits: one LUT per bit."""
    top = len(a) - 1

    @always_comb
    def select() -> None:
        chosen = modbv(0)[TRIPLE_BITS:]
        if digit == 3:
            chosen[:] = triple
        elif digit == 2:
            chosen[:] = concat(a[top], a, False)
        elif digit == 1:
            chosen[:] = concat(a[top], a[top], a)
        else:
            chosen[:] = 0
        term.next = chosen[TRIPLE_BITS:cut]

    return select


@block
def _add(acc: Word, term: Word, total: Word) -> Any:
    """Add a term to the shorter ``acc``, whose sign is extended by two bits."""
    top, width = len(acc) - 1, len(total)

    @always_comb
    def add() -> None:
        value = modbv(0)[width:]
        value[:] = concat(acc[top], acc[top], acc) + term
        total.next = value

    return add


@entity
def fused_low_product(clk: Bit, a: Word, triple: Word, low: Word, y: Word, window: int) -> Any:
    """Multiply a mantissa by the seven low bits of another, and cut the product of every digit.

    a, triple  in   a mantissa and three times this mantissa, two's complement
    low        in   seven bits, four digits of radix 4
    y          out  the sum of the products of the digits in units of 2^(46 - window), each rounded
                    down

    Latency: 2. Throughput: one per cycle. Reset: none.
    """
    cut = 46 - window
    terms = [bits(TRIPLE_BITS - cut + 2 * j) for j in range(3)]
    sums = [bits(len(terms[1])), bits(len(terms[2]))]
    # The highest digit is a single bit; it arrives a cycle later.
    high, single, partial = bits(len(a) - cut + 6), flag(), bits(len(terms[2]))
    top, high_top, width, high_from = len(partial) - 1, len(high) - 1, len(y), cut - 6
    digits = [
        _digit(digit=low(2 * j + 2, 2 * j), a=a, triple=triple, term=terms[j], cut=cut - 2 * j)
        for j in range(3)
    ]
    adders = (
        _add(acc=terms[0], term=terms[1], total=sums[0]),
        _add(acc=sums[0], term=terms[2], total=sums[1]),
    )
    early = sums[1]

    @always(clk.posedge)
    def load() -> None:
        partial.next = early
        high.next = a[MANTISSA_BITS:high_from]
        single.next = low[LOW_BITS - 1]

    @always(clk.posedge)
    def add_last() -> None:
        value = modbv(0)[width:]
        term = modbv(0)[width:]
        if single:
            term[:] = concat(high[high_top], high)
        value[:] = concat(partial[top], partial) + term
        y.next = value

    # A sum precedes the digit that is added to it. Synthesis tools that follow the order of
    # statements (GHDL and Yosys, page export) then place the selection of a digit and its sum in
    # one LUT.
    return digits[:2], adders[0], digits[2], adders[1], load, add_last
