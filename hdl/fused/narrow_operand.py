"""Decode a factor with a narrow significand for fused CUs: sign, significand, exponent.

With unsigned significands, a DSP block has room for two products in parallel, and the alignment
shifts in zeros only. The adder applies the sign. Special numbers and numbers that round to infinity
are detected in parallel with the carry chain of the rounding.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, concat, intbv, modbv

from merp.hdl.conversion.entity import Word, entity
from merp.models.base.formats import BINARY32
from merp.models.base.fused import EXPONENT_BITS


@entity
def narrow_operand(word: Word, operand: Word, significand: int) -> Any:
    """Round a number to a narrow significand, to nearest even, and decode it.

    word     in   binary32; a subnormal counts as zero
    operand  out  from the highest bit: sign, significand with its hidden bit, exponent field

    Zero has significand and exponent 0. An infinity and a NaN have a hidden bit of 0. The next bit
    is set for an infinity, and the bit below it for a NaN, whose exponent is undefined. Latency:
    combinational.
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
