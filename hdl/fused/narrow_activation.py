"""Decode a narrow activation once for all fused CUs: operand and flags."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.narrow_operand import narrow_operand
from merp.models.base.fused import EXPONENT_BITS, operand_bits


@entity
def narrow_activation(clk: Bit, word: Word, activation: Word, significand: int) -> Any:
    """Round and decode an element of the window.

    word        in   binary32
    activation  out  from the highest bit: infinite, zero, operand; a NaN sets infinite and zero

    Latency: 1 for sign, exponent and flags; 2 for the significand, which is used one cycle later.
    Throughput: one per cycle. Reset: none.
    """
    width = operand_bits(significand)
    sign_at, hidden_at = width - 1, width - 2
    infinite_at, nan_at = width - 3, width - 4
    operand = bits(width)
    magnitude, late = bits(significand), bits(significand)
    exponent, minus, infinite, zero = bits(EXPONENT_BITS), flag(), flag(), flag()
    decode = narrow_operand(word=word, operand=operand, significand=significand)

    @always(clk.posedge)
    def load() -> None:
        special = not operand[hidden_at] and (operand[infinite_at] or operand[nan_at])
        zero.next = not operand[hidden_at] and not operand[infinite_at]
        infinite.next = special
        minus.next = operand[sign_at]
        exponent.next = operand[EXPONENT_BITS:]
        magnitude.next = operand[sign_at:EXPONENT_BITS]
        late.next = magnitude

    @always_comb
    def join() -> None:
        activation.next = concat(infinite, zero, minus, late, exponent)

    return decode, load, join
