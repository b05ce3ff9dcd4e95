"""Convert an operand of a fused CU back to the number that it encodes."""

from __future__ import annotations

from typing import Any

from myhdl import always, concat, intbv, modbv

from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_operand import INFINITE_AT, NAN_AT
from merp.models.base.fused import EXPONENT_BITS, FRACTION_BITS, MANTISSA_BITS, OPERAND_BITS

QUIET_AT = FRACTION_BITS - 1  # set in a NaN


@entity
def fused_element(clk: Bit, operand: Word, element: Word) -> Any:
    """Invert ``fused_operand``; a subnormal becomes a signed zero, a NaN the canonical one.

    operand  in   the operand (33 bits), and above it the sign of the number
    element  out  binary32

    Latency: 1. Throughput: one per cycle. Reset: none.
    """
    top = MANTISSA_BITS - 1

    @always(clk.posedge)
    def encode() -> None:
        sign = operand[OPERAND_BITS]
        exponent = intbv(0)[EXPONENT_BITS:]
        mantissa = modbv(0)[MANTISSA_BITS:]
        exponent[:] = operand[EXPONENT_BITS:]
        mantissa[:] = operand[OPERAND_BITS:EXPONENT_BITS]
        no_number = not mantissa[top] and not mantissa[top - 1]
        infinite = no_number and mantissa[INFINITE_AT]
        no_value = no_number and mantissa[NAN_AT]
        if no_number:
            mantissa[:] = 0
            exponent[:] = 0
        elif sign:
            mantissa[:] = ~mantissa
            mantissa[:] = mantissa + 1
        if infinite or no_value:
            exponent[:] = ~exponent
        if no_value:
            mantissa[QUIET_AT] = True
            sign = False
        element.next = concat(sign, exponent, mantissa[FRACTION_BITS:])

    return encode
