"""Last steps of every float operation: round to nearest even, then pack.

IEEE 754-2019 clause 4.3.1 (rounding), with underflow replaced by a signed zero. The operators
compute exactly and hand over a ``RawFloat``, so this is the only rounding in the package.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv, modbv

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat


class RawFloat:
    """A normalised result before rounding.

    Its value is ``(-1)^sign * 1.frac|guard|sticky * 2^(exponent-bias)``. ``exponent`` is the biased
    exponent in two's complement, wide enough never to overflow. The precedence is ``is_nan``,
    ``is_inf``, ``is_zero``, then the value.
    """

    def __init__(self, exp_width: int, fmt: FloatFormat) -> None:
        self.sign = flag()
        self.exponent = bits(exp_width)
        self.frac = bits(fmt.frac_bits)
        self.guard = flag()
        self.sticky = flag()  # any bit below guard
        self.is_nan = flag()
        self.is_inf = flag()
        self.is_zero = flag()


@entity
def fp_round(clk: Bit, raw: RawFloat, y: Word, fmt: FloatFormat, registered: bool) -> Any:
    """Round a normalised result to nearest even and pack it.

    raw  in   RawFloat; raw_exponent is in two's complement
    y    out  the float, registered

    A magnitude below the smallest normal after rounding becomes a signed zero, and a magnitude
    above the largest an infinity. Latency: 1, or 2 with a register between rounding and packing
    (registered); none without clk, where y is not registered. Throughput: one per cycle. Reset:
    none.
    """
    frac_bits, exp_width = fmt.frac_bits, len(raw.exponent)
    top = exp_width + frac_bits
    exp_end = fmt.exp_bits + frac_bits
    exp_max, nan, inf = fmt.exp_max, fmt.nan, fmt.inf
    sign_at = fmt.width - 1

    # | exponent (two's complement) | fraction |: a carry out of the fraction increments the
    # exponent.
    rounded = bits(top)
    sign, is_nan, is_inf, is_zero = flag(), flag(), flag(), flag()

    @(always(clk.posedge) if registered else always_comb)
    def round_even() -> None:
        value = modbv(0)[top:]
        up = raw.guard and (raw.sticky or raw.frac[0])
        value[:] = concat(raw.exponent, raw.frac) + up
        rounded.next = value
        sign.next = raw.sign
        is_nan.next = raw.is_nan
        is_inf.next = raw.is_inf
        is_zero.next = raw.is_zero

    @(always_comb if clk is None else always(clk.posedge))
    def pack() -> None:
        word = intbv(0)[fmt.width :]
        exponent = intbv(0)[exp_width:]
        exponent[:] = rounded[top:frac_bits]
        if is_nan:
            word[:] = nan
        else:
            if is_inf:
                word[:] = inf
            elif is_zero or exponent[exp_width - 1] or exponent == 0:
                word[:] = 0
            elif exponent >= exp_max:
                word[:] = inf
            else:
                word[:] = rounded[exp_end:]
            word[sign_at] = sign
        y.next = word

    return round_even, pack
