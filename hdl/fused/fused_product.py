"""Product of two mantissas, cut to W bits, with one or two DSP48E1."""

from __future__ import annotations

from typing import Any

from myhdl import Signal, always, always_comb, block, concat, intbv

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_activation import TRIPLE_AT
from merp.hdl.fused.fused_low_product import fused_low_product
from merp.models.base.fused import (
    EXPONENT_BITS,
    LOW_BITS,
    MANTISSA_BITS,
    OPERAND_BITS,
    PRODUCT,
    TRIPLE_BITS,
)

CASCADE = 17  # the built-in shift of the DSP cascade


def _signed(width: int) -> Any:
    return Signal(intbv(0, min=-(1 << (width - 1)), max=1 << (width - 1)))


@block
def _one_dsp(clk: Bit, a: Word, triple: Word, b: Word, y: Word) -> Any:
    """Compute (a * high + low product) / 2^..., with registers of a, high and total in the DSP."""
    window = len(y)
    width, shift, cut = 42, 39 - window, 42 - window
    digits, low = bits(LOW_BITS), bits(window - 14)
    a_2 = _signed(MANTISSA_BITS)
    high_1, high_2 = _signed(MANTISSA_BITS - LOW_BITS), _signed(MANTISSA_BITS - LOW_BITS)
    addend, product, total = _signed(width), _signed(width), _signed(width)
    low_product = fused_low_product(clk, a=a, triple=triple, low=digits, y=low, window=window)

    @always(clk.posedge)
    def multiply() -> None:
        digits.next = b[LOW_BITS:]
        high_1.next = b[MANTISSA_BITS:LOW_BITS].signed()
        a_2.next = a.signed()
        high_2.next = high_1
        product.next = a_2 * high_2
        total.next = product + addend

    @always_comb
    def widen() -> None:
        value = intbv(0, min=-(1 << (width - 1)), max=1 << (width - 1))
        value[:] = low.signed()
        addend.next = value << shift

    @always_comb
    def cut_low() -> None:
        y.next = total[width:cut]

    return low_product, multiply, widen, cut_low


@block
def _two_dsp(clk: Bit, a: Word, b: Word, y: Word) -> Any:
    """Multiply with two DSPs: one for the low 17 bits of b, one for the rest plus the carry."""
    cut, high_bits = 32 - len(y), MANTISSA_BITS - CASCADE
    a_2 = _signed(MANTISSA_BITS)
    low_1, low_2, low_3 = _signed(CASCADE + 1), _signed(CASCADE + 1), _signed(42)
    high_1, high_2, high_3 = _signed(high_bits), _signed(high_bits), _signed(33)
    total = _signed(33)

    @always(clk.posedge)
    def multiply() -> None:
        low_1.next = concat(False, b[CASCADE:]).signed()
        high_1.next = b[MANTISSA_BITS:CASCADE].signed()
        a_2.next = a.signed()
        low_2.next = low_1
        high_2.next = high_1
        low_3.next = a_2 * low_2
        high_3.next = a_2 * high_2
        total.next = high_3 + (low_3 >> CASCADE)

    @always_comb
    def cut_low() -> None:
        y.next = total[32:cut]

    return multiply, cut_low


@entity
def fused_product(clk: Bit, activation: Word, kernel: Word, y: Word, dsp: int, latency: int) -> Any:
    """Multiply the mantissas of an activation and of a kernel element.

    activation  in   in the format of fused_activation; its mantissa arrives a cycle after the
                     kernel
    kernel      in   an operand: mantissa above exponent
    y           out  the W highest of the 49 bits of the product, two's complement

    With dsp = 2 the product is exact and rounded down. With dsp = 1 its low part is cut in four
    more places, see fused_low_product. Latency: latency, 4 or more. Throughput: one per cycle.
    Reset: none.
    """
    product = bits(len(y))
    a, b = activation(OPERAND_BITS, EXPONENT_BITS), kernel(OPERAND_BITS, EXPONENT_BITS)
    if dsp == 1:
        triple = activation(TRIPLE_AT + TRIPLE_BITS, TRIPLE_AT)
        multiply = _one_dsp(clk, a=a, triple=triple, b=b, y=y if latency == PRODUCT else product)
    else:
        multiply = _two_dsp(clk, a=a, b=b, y=y if latency == PRODUCT else product)
    if latency == PRODUCT:
        return multiply
    return multiply, delay(clk, d=product, q=y, cycles=latency - PRODUCT)
