"""Decode a binary32 number for the fused CU: mantissa in two's complement, and exponent.

The decoding happens once for all CUs, so no CU contains sign logic.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, concat, intbv, modbv

from merp.hdl.conversion.entity import Word, entity
from merp.models.base.fused import EXPONENT_BITS, FRACTION_BITS, MANTISSA_BITS

# The two highest bits of a nonzero mantissa differ, or both are one (-2^23). If both are zero, the
# word is a zero, an infinity or a NaN:
INFINITE_AT = 22  # set for an infinity
MINUS_AT = 21  # its sign
NAN_AT = 20  # set for a NaN


@entity
def fused_operand(word: Word, operand: Word) -> Any:
    """Decode a binary32 number.

    word     in   binary32; a subnormal counts as zero
    operand  out  mantissa (25 bits, two's complement) above the exponent field (8 bits)

    The mantissa of zero is 0. An infinity has mantissa bits 24 and 23 clear, bit 22 set, and its
    sign in bit 21. A NaN has bits 24 to 22 clear and bit 20 set. Latency: combinational.
    """
    special = (1 << EXPONENT_BITS) - 1
    sign_at = FRACTION_BITS + EXPONENT_BITS

    @always_comb
    def decode() -> None:
        exponent = intbv(0)[EXPONENT_BITS:]
        mantissa = modbv(0)[MANTISSA_BITS:]
        exponent[:] = word[sign_at:FRACTION_BITS]
        mantissa[:] = concat(False, True, word[FRACTION_BITS:])
        if word[sign_at]:
            mantissa[:] = ~mantissa
            mantissa[:] = mantissa + 1
        if exponent == 0:
            mantissa[:] = 0
        elif exponent == special:
            mantissa[:] = 0
            if word[FRACTION_BITS:] != 0:
                mantissa[NAN_AT] = True
            else:
                mantissa[INFINITE_AT] = True
                mantissa[MINUS_AT] = word[sign_at]
        operand.next = concat(mantissa, exponent)

    return decode
