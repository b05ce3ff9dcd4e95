"""Float conversion to a narrower format (IEEE 754-2019 clause 5.4.2).

Only the fraction becomes shorter: exponents have the same width, so that a number of one format
underflows in the other only if it does in both.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, concat, intbv

from merp.hdl.arithmetic.fp_round import RawFloat, fp_round
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.params.formats import FloatFormat


@entity
def fp_convert(clk: Bit, a: Word, y: Word, fmt: FloatFormat, target: FloatFormat) -> Any:
    """Round a float to a format of fewer fraction bits.

    a  in   a float
    y  out  the float rounded to nearest even

    A subnormal is a signed zero, a number that rounds beyond the largest an infinity, and every NaN
    the canonical quiet one. Latency: 1. Throughput: one per cycle. Reset: none.
    """
    lost = fmt.frac_bits - target.frac_bits
    if fmt.exp_bits != target.exp_bits or lost < 1:
        raise ValueError(f"target must be {fmt} with a shorter fraction, not {target}")
    frac_bits, sign_at, exp_max = fmt.frac_bits, fmt.width - 1, fmt.exp_max
    raw = RawFloat(fmt.exp_bits + 1, target)

    @always_comb
    def unpack() -> None:
        rest = intbv(0)[lost + 1 :]  # | guard | below |, and a bit so that there is some below
        rest[:] = concat(a[lost:], False)
        special = a[sign_at:frac_bits] == exp_max
        raw.sign.next = a[sign_at]
        raw.exponent.next = concat(False, a[sign_at:frac_bits])
        raw.frac.next = a[frac_bits:lost]
        raw.guard.next = rest[lost]
        raw.sticky.next = rest[lost:] != 0
        raw.is_nan.next = special and a[frac_bits:] != 0
        raw.is_inf.next = special and a[frac_bits:] == 0
        raw.is_zero.next = a[sign_at:frac_bits] == 0

    return unpack, fp_round(clk, raw=raw, y=y, fmt=target, registered=False)
