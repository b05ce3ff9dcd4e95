"""Decode an activation once for all fused CUs: operand, flags and triple mantissa."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv, modbv

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_operand import INFINITE_AT, MINUS_AT, NAN_AT, fused_operand
from merp.models.base.fused import EXPONENT_BITS, MANTISSA_BITS, OPERAND_BITS, TRIPLE_BITS

# Bit positions of the flags above an operand.
ZERO_AT, INFINITY_AT, NEGATIVE_AT = OPERAND_BITS, OPERAND_BITS + 1, OPERAND_BITS + 2
TRIPLE_AT = OPERAND_BITS + 3


@entity
def fused_activation(clk: Bit, word: Word, activation: Word, dsp: int) -> Any:
    """Decode an element of the window.

    word        in   binary32
    activation  out  from the highest bit: three times the mantissa (27 bits, with dsp = 1 only),
                     negative, infinite, zero, operand (33 bits). A NaN sets infinite and zero.

    Latency: 1 for exponent and flags; 2 for the mantissa and its triple, which are used one cycle
    later. Throughput: one per cycle. Reset: none.
    """
    operand = bits(OPERAND_BITS)
    mantissa, late = bits(MANTISSA_BITS), bits(MANTISSA_BITS)
    flags, exponent = bits(3), bits(EXPONENT_BITS)
    triple = bits(TRIPLE_BITS)
    top = MANTISSA_BITS - 1
    decode = fused_operand(word=word, operand=operand)

    @always(clk.posedge)
    def load() -> None:
        significand = intbv(0)[MANTISSA_BITS:]
        significand[:] = operand[OPERAND_BITS:EXPONENT_BITS]
        no_number = not significand[top] and not significand[top - 1]
        infinite = no_number and (significand[INFINITE_AT] or significand[NAN_AT])
        zero = no_number and not significand[INFINITE_AT]
        negative = significand[top] or (no_number and significand[MINUS_AT])
        flags.next = concat(negative, infinite, zero)
        exponent.next = operand[EXPONENT_BITS:]
        mantissa.next = significand

    @always(clk.posedge)
    def load_late() -> None:
        tripled = modbv(0)[TRIPLE_BITS:]
        tripled[:] = concat(mantissa[top], mantissa[top], mantissa) + concat(
            mantissa[top], mantissa, False
        )
        triple.next = tripled
        late.next = mantissa

    if dsp == 1:

        @always_comb
        def join() -> None:
            activation.next = concat(triple, flags, late, exponent)

    else:

        @always_comb
        def join() -> None:
            activation.next = concat(flags, late, exponent)

    return decode, load, load_late, join
