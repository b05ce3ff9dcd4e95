"""Float adder, one rounding, subnormals flushed to zero.

IEEE 754-2019 clause 5.4.1 without subnormals, exceptions and NaN payloads. A single path: order
the operands, align the smaller, add, normalise, round.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, downrange, intbv, modbv

from merp.hdl.bundles import bits, flag
from merp.hdl.entity import entity
from merp.hdl.fp_round import RawFloat, fp_round
from merp.models.params.formats import FloatFormat

# latency -> register after (order, align, add, normalise); the result is always a register.
CUTS = {
    1: (False, False, False, False),
    2: (False, True, False, False),
    3: (True, False, True, False),
    4: (True, False, True, True),
    5: (True, True, True, True),
}


@entity
def fp_add(clk: Any, a: Any, b: Any, y: Any, fmt: FloatFormat, latency: int) -> Any:
    """Add two floats.

    a, b  in   terms
    y     out  sum, rounded to nearest even

    A subnormal term is a signed zero, and so is a sum below the smallest normal; x + (-x) is +0.
    Infinities are kept; NaN, and infinity minus infinity, give the canonical quiet NaN.
    Latency: 1 to 5. Throughput: one sum per cycle. Reset: none.
    """
    if latency not in CUTS:
        raise ValueError(f"latency must be 1 to 5, not {latency}")
    cut_order, cut_align, cut_add, cut_normalise = CUTS[latency]

    width, exp_bits, frac_bits, exp_max = fmt.width, fmt.exp_bits, fmt.frac_bits, fmt.exp_max
    sign_at = width - 1
    sig_bits = frac_bits + 1
    # | carry | significand | guard | round |; what lies below is one sticky bit.
    sum_bits = sig_bits + 3
    align_steps = min(exp_bits, (sig_bits + 2).bit_length())
    align_reach = 1 << align_steps
    lead_steps = (sum_bits - 1).bit_length()
    # From exp_max + 1 down to 1 - (the largest count of leading zeros).
    exp_width = max(exp_bits, lead_steps) + 2

    larger, smaller, distance = bits(width), bits(width), bits(exp_bits)

    augend, addend = bits(sum_bits), bits(sum_bits)
    carry, sticky_align, subtract_align = flag(), flag(), flag()
    exp_align, sign_align = bits(exp_bits), flag()
    is_nan_align, is_inf_align = flag(), flag()

    total, sticky, subtract = bits(sum_bits), flag(), flag()
    exponent, sign, is_nan, is_inf = bits(exp_bits), flag(), flag(), flag()

    raw = RawFloat(exp_width, fmt)

    @(always(clk.posedge) if cut_order else always_comb)
    def order() -> None:
        high = intbv(0)[width:]
        low = intbv(0)[width:]
        if a[sign_at:] < b[sign_at:]:
            high[:] = b
            low[:] = a
        else:
            high[:] = a
            low[:] = b
        larger.next = high
        smaller.next = low
        distance.next = high[sign_at:frac_bits] - low[sign_at:frac_bits]

    @(always(clk.posedge) if cut_align else always_comb)
    def align() -> None:
        aligned = intbv(0)[sum_bits:]
        moved = intbv(0)[sum_bits:]
        lost = False
        special = larger[sign_at:frac_bits] == exp_max
        differ = larger[sign_at] != smaller[sign_at]
        if smaller[sign_at:frac_bits] != 0:
            aligned[:] = concat(True, smaller[frac_bits:], intbv(0)[2:])
        if distance >= align_reach:
            lost = aligned != 0
            aligned[:] = 0
        else:
            for i in range(align_steps):
                if distance[i]:
                    moved[:] = aligned >> 2**i
                    if (moved << 2**i) != aligned:
                        lost = True
                    aligned[:] = moved
        # larger - (aligned + sticky/2) = (larger + not aligned + not sticky) with the sticky bit
        # below: the borrow costs no second carry chain.
        if differ:
            addend.next = ~aligned
        else:
            addend.next = aligned
        carry.next = differ and not lost
        sticky_align.next = lost
        subtract_align.next = differ
        if larger[sign_at:frac_bits] != 0:
            augend.next = concat(False, True, larger[frac_bits:], intbv(0)[2:])
        else:
            augend.next = 0
        exp_align.next = larger[sign_at:frac_bits]
        sign_align.next = larger[sign_at]
        is_inf_align.next = special
        # The larger magnitude of the two: a NaN if there is any, else an infinity if there is any.
        is_nan_align.next = special and (
            larger[frac_bits:] != 0 or (differ and smaller[sign_at:frac_bits] == exp_max)
        )

    @(always(clk.posedge) if cut_add else always_comb)
    def add() -> None:
        value = modbv(0)[sum_bits:]
        value[:] = augend + addend + carry
        total.next = value
        sticky.next = sticky_align
        subtract.next = subtract_align
        exponent.next = exp_align
        sign.next = sign_align
        is_nan.next = is_nan_align
        is_inf.next = is_inf_align

    @(always(clk.posedge) if cut_normalise else always_comb)
    def normalise() -> None:
        value = intbv(0)[sum_bits:]
        lead = intbv(0)[lead_steps:]
        exp_next = modbv(0)[exp_width:]
        value[:] = total
        for i in downrange(lead_steps):
            if (value >> (sum_bits - 2**i)) == 0:
                value[:] = value << 2**i
                lead[i] = True
        exp_next[:] = exponent + 1 - lead
        raw.exponent.next = exp_next
        raw.frac.next = value[sum_bits - 1 : 3]
        raw.guard.next = value[2]
        raw.sticky.next = value[2:] != 0 or sticky
        raw.is_nan.next = is_nan
        raw.is_inf.next = is_inf
        raw.is_zero.next = not value[sum_bits - 1]
        # Exact cancellation is +0, but (-0) + (-0) is -0.
        raw.sign.next = sign and (value[sum_bits - 1] or not subtract)

    return order, align, add, normalise, fp_round(clk, raw, y, fmt, False)
