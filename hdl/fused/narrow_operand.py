"""A factor of a few significant bits as narrow fused CUs take it: sign, significand, exponent.

A significand without a sign leaves a DSP block room for two products, side by side, and makes the
alignment's shift one of zeros. The sign comes in with the adder.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, concat, intbv

from merp.hdl.conversion.entity import Word, entity
from merp.models.params.formats import FloatFormat
from merp.models.params.fused import EXPONENT_BITS


@entity
def narrow_operand(word: Word, operand: Word, significand: int) -> Any:
    """Decode a number with the exponents of binary32 and so many bits of significand.

    word     in   the number; a subnormal is zero
    operand  out  from the highest bit: sign, significand with its hidden bit, exponent field

    Zero has significand and exponent 0. An infinity and a NaN have no hidden bit; the next is set
    for an infinity, the one below that for a NaN. Combinational.
    """
    fmt = FloatFormat(EXPONENT_BITS, significand - 1)
    exp_end, frac_bits, exp_max = fmt.width - 1, fmt.frac_bits, fmt.exp_max
    infinite, nan = 1 << (frac_bits - 1), 1 << (frac_bits - 2)

    @always_comb
    def decode() -> None:
        magnitude = intbv(0)[significand:]
        exponent = intbv(0)[EXPONENT_BITS:]
        exponent[:] = word[exp_end:frac_bits]
        if exponent == exp_max:
            if word[frac_bits:] != 0:
                magnitude[:] = nan
            else:
                magnitude[:] = infinite
        elif exponent != 0:
            magnitude[:] = concat(True, word[frac_bits:])
        operand.next = concat(word[exp_end], magnitude, exponent)

    return decode
