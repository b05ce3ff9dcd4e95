"""Float conversion to a wider format; the conversion is exact."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, concat, intbv

from merp.hdl.arithmetic.widen import widen
from merp.hdl.conversion.entity import Word, entity
from merp.models.base.formats import FloatFormat


@entity
def fp_widen(a: Word, y: Word, fmt: FloatFormat, target: FloatFormat) -> Any:
    """Convert a float to a format with no fewer exponent and fraction bits.

    a  in   a float
    y  out  the same number

    If the exponent widths are equal, zeros are appended to the fraction, and every word keeps its
    class: a subnormal stays a subnormal, which counts as zero. If the exponent is wider, a
    subnormal becomes a signed zero, and a NaN the canonical quiet NaN. Latency: combinational.
    Reset: none.
    """
    more = target.frac_bits - fmt.frac_bits
    if target.exp_bits < fmt.exp_bits or more < 0:
        raise ValueError(f"target must be {fmt} with no fewer bits, not {target}")
    if target.exp_bits == fmt.exp_bits:
        return widen(x=a, y=y, width=target.width)
    frac_bits, sign_at, exp_max = fmt.frac_bits, fmt.width - 1, fmt.exp_max
    exp_bits, top = target.exp_bits, target.width - 1
    rebias = target.bias - fmt.bias
    nan, inf = target.nan, target.inf

    @always_comb
    def place() -> None:
        word = intbv(0)[top + 1 :]
        exponent = intbv(0)[exp_bits:]
        exponent[:] = a[sign_at:frac_bits]
        special = exponent == exp_max
        if special and a[frac_bits:] != 0:
            word[:] = nan
        else:
            if special:
                word[:] = inf
            elif exponent != 0:
                exponent[:] = exponent + rebias
                word[:] = concat(exponent, a[frac_bits:])
                word[:] = word << more
            word[top] = a[sign_at]
        y.next = word

    return place
