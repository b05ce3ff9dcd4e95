"""A factor of a few significant bits as narrow fused CUs take it: sign, significand, exponent.

A significand without a sign leaves a DSP block room for two products, side by side, and makes the
alignment's shift one of zeros. The sign comes in with the adder. What is no number, and what rounds
to infinity, is found beside the rounding's carry chain, not behind it.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, concat, intbv, modbv

from merp.hdl.conversion.entity import Word, entity
from merp.models.base.formats import BINARY32
from merp.models.base.fused import EXPONENT_BITS


@entity
def narrow_operand(word: Word, operand: Word, significand: int) -> Any:
    """Round a number to so many bits of significand, to nearest even, and decode it.

    word     in   binary32; a subnormal is zero
    operand  out  from the highest bit: sign, significand with its hidden bit, exponent field

    Zero has significand and exponent 0. An infinity and a NaN have no hidden bit; the next is set
    for an infinity, the one below that for a NaN, whose exponent means nothing. Combinational.
    """
    frac_bits, sign_at = BINARY32.frac_bits, BINARY32.width - 1
    kept = significand - 1
    lost = frac_bits - kept
    width = EXPONENT_BITS + kept
    exp_max, most = BINARY32.exp_max, (BINARY32.exp_max << kept) - 1
    infinite_at, nan_at = significand - 2, significand - 3

    @always_comb
    def decode() -> None:
        rounded = modbv(0)[width:]
        magnitude = intbv(0)[significand:]
        exponent = intbv(0)[EXPONENT_BITS:]
        up = word[lost - 1] and (word[lost] or word[lost - 1 :] != 0)
        rounded[:] = word[sign_at:lost]
        full = up and rounded == most
        rounded[:] = rounded + up
        zero = word[sign_at:frac_bits] == 0
        special = word[sign_at:frac_bits] == exp_max
        if not zero:
            exponent[:] = rounded[width:kept]
            magnitude[:] = concat(True, rounded[kept:])
            if special or full:
                magnitude[:] = 0
                if special and word[frac_bits:] != 0:
                    magnitude[nan_at] = True
                else:
                    magnitude[infinite_at] = True
        operand.next = concat(word[sign_at], magnitude, exponent)

    return decode
