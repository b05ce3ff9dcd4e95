"""Convert the exact sum of a window to a float: magnitude, leading zeros, one rounding."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv, modbv

from merp.hdl.arithmetic.fp_round import RawFloat, fp_round
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat

# Room for the sum of 11 x 11 products of 32 bits. Zeros below a narrower sum cost nothing.
FIELD_BITS = 40


@entity
def fused_normalise(
    clk: Bit, total: Word, largest: Word, special: Word, y: Word, window: int, fmt: FloatFormat
) -> Any:
    """Round a sum of aligned binary32 products to a format with the same exponents.

    total    in   value in two's complement, and below it a unit to add
    largest  in   the exponent to which the products are aligned
    special  in   NaN, infinity, and sign of the infinity; these override the value
    y        out  a float, rounded to nearest even; a zero sum is +0, a sum below the smallest
                  normal is a zero of its sign

    Latency: 5. Throughput: one per cycle. Reset: none.
    """
    width = len(total) - 1
    field = max(FIELD_BITS, width + 1)  # up to 48, the limit of the leading-zero count
    exp_width = fmt.exp_bits + 2
    # The lowest place of the value weighs 2^(largest - window - 250). This is the biased exponent
    # of the highest place.
    offset = (width - 1 - window - 250 + fmt.bias) % (1 << exp_width)
    frac_end = field - 1 - fmt.frac_bits

    magnitude, moved, normal = bits(width), bits(field), bits(field)
    sign, sign_2, sign_3 = flag(), flag(), flag()
    zeros_2, zeros_3 = bits(2), bits(6)  # digits of radix 4
    base, base_2, base_3 = bits(exp_width), bits(exp_width), bits(exp_width)
    special_3 = bits(3)
    raw = RawFloat(exp_width, fmt)

    @always(clk.posedge)
    def absolute() -> None:
        # -(value + unit) = not value + (1 - unit), so the unit costs no second carry chain. If
        # value + unit = 0, the sign of value is wrong, but has no effect.
        value = modbv(0)[width:]
        exponent = modbv(0)[exp_width:]
        value[:] = total[width + 1 : 1]
        if total[width]:
            value[:] = ~value
        value[:] = value + (total[width] != total[0])
        magnitude.next = value
        sign.next = total[width]
        exponent[:] = concat(False, largest) + offset
        base.next = exponent

    @always(clk.posedge)
    def coarse() -> None:
        value = intbv(0)[field:]
        value[:] = concat(magnitude, intbv(0)[field - width :])
        if value[field : field - 16] != 0:
            moved.next = value
            zeros_2.next = 0
        elif value[field - 16 : field - 32] != 0:
            moved.next = value << 16
            zeros_2.next = 1
        else:
            moved.next = value << 32
            zeros_2.next = 2
        sign_2.next = sign
        base_2.next = base

    @always(clk.posedge)
    def fine() -> None:
        value = intbv(0)[field:]
        zeros = intbv(0)[4:]
        if moved[field : field - 4] != 0:
            value[:] = moved
        elif moved[field - 4 : field - 8] != 0:
            value[:] = moved << 4
            zeros[2] = True
        elif moved[field - 8 : field - 12] != 0:
            value[:] = moved << 8
            zeros[3] = True
        else:
            value[:] = moved << 12
            zeros[2] = True
            zeros[3] = True
        if value[field - 1]:
            normal.next = value
        elif value[field - 2]:
            normal.next = value << 1
            zeros[0] = True
        elif value[field - 3]:
            normal.next = value << 2
            zeros[1] = True
        else:
            normal.next = value << 3
            zeros[0] = True
            zeros[1] = True
        zeros_3.next = concat(zeros_2, zeros)
        sign_3.next = sign_2
        base_3.next = base_2

    @always_comb
    def unpack() -> None:
        exponent = modbv(0)[exp_width:]
        exponent[:] = base_3 - zeros_3
        raw.exponent.next = exponent
        raw.frac.next = normal[field - 1 : frac_end]
        raw.guard.next = normal[frac_end - 1]
        raw.sticky.next = normal[frac_end - 1 :] != 0
        raw.is_nan.next = special_3[2]
        raw.is_inf.next = special_3[1]
        raw.is_zero.next = not normal[field - 1]
        if special_3[1]:
            raw.sign.next = special_3[0]
        else:
            raw.sign.next = sign_3 and normal[field - 1]

    late = delay(clk, d=special, q=special_3, cycles=3)
    return (
        absolute,
        coarse,
        fine,
        unpack,
        late,
        fp_round(clk, raw=raw, y=y, fmt=fmt, registered=True),
    )
