"""Float conversion to a narrower format (IEEE 754-2019 clause 5.4.2).

The fraction becomes shorter; the exponent may become shorter. If it does not, a number underflows
in the target format only if it underflows in the source format.
"""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block, concat, intbv, modbv

from merp.hdl.arithmetic.fp_round import RawFloat, fp_round
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat


@block
def _rebias(biased: Word, exponent: Word, difference: int) -> Any:
    """Subtract the difference of the two biases; the exponent is in two's complement."""
    width = len(exponent)
    other = (1 << width) - difference

    @always_comb
    def subtract() -> None:
        moved = modbv(0)[width:]
        moved[:] = biased + other
        exponent.next = moved

    return subtract


@entity
def fp_convert(clk: Bit, a: Word, y: Word, fmt: FloatFormat, target: FloatFormat) -> Any:
    """Round a float to a format with fewer fraction bits and no more exponent bits.

    a  in   a float
    y  out  the float rounded to nearest even

    A subnormal, and a number that rounds below the smallest normal of the target, become a signed
    zero. A number that rounds above the largest one becomes an infinity. Every NaN becomes the
    canonical quiet NaN. Latency: 1, or none without clk. Throughput: one per cycle. Reset: none.
    """
    lost = fmt.frac_bits - target.frac_bits
    if fmt.exp_bits < target.exp_bits or lost < 1:
        raise ValueError(f"target must be {fmt} with a shorter fraction, not {target}")
    frac_bits, sign_at, exp_max = fmt.frac_bits, fmt.width - 1, fmt.exp_max
    raw = RawFloat(fmt.exp_bits + 1, target)
    biased = raw.exponent
    rebias: Any = ()
    if fmt.bias != target.bias:
        biased = bits(fmt.exp_bits + 1)
        rebias = _rebias(biased=biased, exponent=raw.exponent, difference=fmt.bias - target.bias)

    @always_comb
    def unpack() -> None:
        # | guard | below |, with an extra bit so that below is never empty
        rest = intbv(0)[lost + 1 :]
        rest[:] = concat(a[lost:], False)
        special = a[sign_at:frac_bits] == exp_max
        raw.sign.next = a[sign_at]
        biased.next = concat(False, a[sign_at:frac_bits])
        raw.frac.next = a[frac_bits:lost]
        raw.guard.next = rest[lost]
        raw.sticky.next = rest[lost:] != 0
        raw.is_nan.next = special and a[frac_bits:] != 0
        raw.is_inf.next = special and a[frac_bits:] == 0
        raw.is_zero.next = a[sign_at:frac_bits] == 0

    return unpack, rebias, fp_round(clk, raw=raw, y=y, fmt=target, registered=False)
