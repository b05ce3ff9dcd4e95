"""An activation decoded for all fused CUs at once: operand, flags, and three times the mantissa."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, modbv

from merp.hdl.bundles import bits
from merp.hdl.entity import entity
from merp.hdl.fused_operand import INFINITE_AT, MINUS_AT, NAN_AT, fused_operand
from merp.models.params.fused import EXPONENT_BITS, MANTISSA_BITS, OPERAND_BITS, TRIPLE_BITS

# Places of the flags above an operand.
ZERO_AT, INFINITY_AT, NEGATIVE_AT = OPERAND_BITS, OPERAND_BITS + 1, OPERAND_BITS + 2
TRIPLE_AT = OPERAND_BITS + 3


@entity
def fused_activation(clk: Any, word: Any, activation: Any, dsp: int) -> Any:
    """Decode an element of the window.

    word        in   binary32
    activation  out  from the highest bit: three times the mantissa (27 bits, with dsp = 1 only),
                     negative, infinite, zero, operand (33 bits); a NaN is infinite and zero

    Latency: 1. Throughput: one per cycle. Reset: none.
    """
    operand = bits(OPERAND_BITS)
    flags = bits(3)
    triple = bits(TRIPLE_BITS)
    top = MANTISSA_BITS - 1
    decode = fused_operand(word, operand)

    @always_comb
    def derive() -> None:
        tripled = modbv(0)[TRIPLE_BITS:]
        mantissa = modbv(0)[MANTISSA_BITS:]
        mantissa[:] = operand[OPERAND_BITS:EXPONENT_BITS]
        tripled[:] = concat(mantissa[top], mantissa[top], mantissa) + concat(
            mantissa[top], mantissa, False
        )
        triple.next = tripled
        no_number = not mantissa[top] and not mantissa[top - 1]
        infinite = no_number and (mantissa[INFINITE_AT] or mantissa[NAN_AT])
        zero = no_number and not mantissa[INFINITE_AT]
        negative = mantissa[top] or (no_number and mantissa[MINUS_AT])
        flags.next = concat(negative, infinite, zero)

    if dsp == 1:

        @always(clk.posedge)
        def load() -> None:
            activation.next = concat(triple, flags, operand)

    else:

        @always(clk.posedge)
        def load() -> None:
            activation.next = concat(flags, operand)

    return decode, derive, load
