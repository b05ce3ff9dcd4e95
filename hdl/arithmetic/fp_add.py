"""Float adder with one rounding; subnormals are flushed to zero.

IEEE 754-2019 clause 5.4.1 without subnormals, exceptions and NaN payloads. The adder has a single
path: order the operands, align the smaller one, add, normalise, round.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, downrange, intbv, modbv

from merp.hdl.arithmetic.fp_round import RawFloat, fp_round
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat

# latency -> register after (order, align, add, coarse, fine); the result is always registered.
CUTS = {
    1: (False, False, False, False, False),
    2: (False, False, True, False, False),
    3: (False, True, False, False, True),
    4: (True, False, True, False, True),
    5: (True, True, False, True, True),
}


@entity
def fp_add(clk: Bit, a: Word, b: Word, y: Word, fmt: FloatFormat, latency: int) -> Any:
    """Add two floats.

    a, b  in   terms
    y     out  sum, rounded to nearest even

    A subnormal term counts as a signed zero, and a sum below the smallest normal becomes one. x +
    (-x) is +0. Infinities are kept; NaN, and infinity minus infinity, give the canonical quiet NaN.
    Latency: latency cycles. Throughput: one sum per cycle. Reset: none.
    """
    if latency not in CUTS:
        raise ValueError(f"latency must be 1 to 5, not {latency}")
    cut_order, cut_align, cut_add, cut_coarse, cut_fine = CUTS[latency]

    width, exp_bits, frac_bits, exp_max = fmt.width, fmt.exp_bits, fmt.frac_bits, fmt.exp_max
    sign_at = width - 1
    # | carry | 1 | fraction | guard | round |; all bits below are one sticky bit.
    sum_bits = frac_bits + 4
    align_steps = min(exp_bits, (sum_bits - 1).bit_length())
    align_reach = 1 << align_steps
    lead_steps = (sum_bits - 1).bit_length()
    fine_steps = (lead_steps + 1) // 2
    # From exp_max down to 2 - (the largest count of leading zeros), in two's complement.
    exp_width = max(exp_bits, lead_steps) + 1
    # | is_nan | is_inf | is_zero | sign | differ | sticky | exponent |, known after alignment. The
    # exponent belongs to the place of the carry.
    facts_bits = 6 + exp_bits
    sticky_at, differ_at, sum_sign_at = exp_bits, exp_bits + 1, exp_bits + 2
    zero_at, inf_at, nan_at = exp_bits + 3, exp_bits + 4, exp_bits + 5

    larger, smaller, distance = bits(width), bits(width), bits(exp_bits)
    augend, addend, carry, facts_align = bits(sum_bits), bits(sum_bits), flag(), bits(facts_bits)
    total, facts_add = bits(sum_bits), bits(facts_bits)
    moved, zeros_coarse, facts_coarse = bits(sum_bits), bits(lead_steps), bits(facts_bits)
    normal, zeros, facts = bits(sum_bits), bits(lead_steps), bits(facts_bits)
    raw = RawFloat(exp_width, fmt)

    @(always(clk.posedge) if cut_order else always_comb)
    def order() -> None:
        # Compute both differences, so that neither waits for the comparison.
        if a[sign_at:] < b[sign_at:]:
            larger.next = b
            smaller.next = a
            distance.next = b[sign_at:frac_bits] - a[sign_at:frac_bits]
        else:
            larger.next = a
            smaller.next = b
            distance.next = a[sign_at:frac_bits] - b[sign_at:frac_bits]

    @(always(clk.posedge) if cut_align else always_comb)
    def align() -> None:
        aligned = intbv(0)[sum_bits:]
        shifted = intbv(0)[sum_bits:]
        exponent = modbv(0)[exp_bits:]
        sticky = False
        # Make the long moves first: then fewer bits are lost in the last, slowest step.
        aligned[:] = concat(True, smaller[frac_bits:], intbv(0)[2:])
        for i in downrange(align_steps):
            if distance[i]:
                shifted[:] = aligned >> 2**i
                if (shifted << 2**i) != aligned:
                    sticky = True
                aligned[:] = shifted
        # The smaller term is zero, or so small that the larger one is the rounded sum for any
        # sticky bit.
        if smaller[sign_at:frac_bits] == 0 or distance >= align_reach:
            aligned[:] = 0
        # larger - (aligned + sticky / 2) equals (larger + not aligned + not sticky) with the sticky
        # bit below it, so the borrow needs no second carry chain.
        differ = larger[sign_at] != smaller[sign_at]
        augend.next = concat(False, True, larger[frac_bits:], intbv(0)[2:])
        if differ:
            addend.next = ~aligned
        else:
            addend.next = aligned
        carry.next = differ and not sticky
        # A NaN is larger than infinity, and infinity is larger than all numbers.
        is_inf = larger[sign_at:frac_bits] == exp_max
        is_nan = is_inf and (
            larger[frac_bits:] != 0 or (differ and smaller[sign_at:frac_bits] == exp_max)
        )
        is_zero = larger[sign_at:frac_bits] == 0
        # wraps for infinity and NaN, but is unused there
        exponent[:] = larger[sign_at:frac_bits] + 1
        facts_align.next = concat(
            is_nan, is_inf, is_zero, larger[sign_at], differ, sticky, exponent
        )

    @(always(clk.posedge) if cut_add else always_comb)
    def add() -> None:
        value = modbv(0)[sum_bits:]
        value[:] = augend + addend + carry
        total.next = value
        facts_add.next = facts_align

    @(always(clk.posedge) if cut_coarse else always_comb)
    def coarse() -> None:
        value = intbv(0)[sum_bits:]
        count = intbv(0)[lead_steps:]
        value[:] = total
        for i in downrange(lead_steps, fine_steps):
            if (value >> (sum_bits - 2**i)) == 0:
                value[:] = value << 2**i
                count[i] = True
        moved.next = value
        zeros_coarse.next = count
        facts_coarse.next = facts_add

    @(always(clk.posedge) if cut_fine else always_comb)
    def fine() -> None:
        value = intbv(0)[sum_bits:]
        count = intbv(0)[lead_steps:]
        value[:] = moved
        count[:] = zeros_coarse
        for i in downrange(fine_steps):
            if (value >> (sum_bits - 2**i)) == 0:
                value[:] = value << 2**i
                count[i] = True
        normal.next = value
        zeros.next = count
        facts.next = facts_coarse

    @always_comb
    def unpack() -> None:
        exponent = modbv(0)[exp_width:]
        exponent[:] = facts[exp_bits:] - zeros
        is_zero = facts[zero_at] or not normal[sum_bits - 1]
        # Exact cancellation is +0, but (-0) + (-0) is -0.
        raw.sign.next = facts[sum_sign_at] and not (is_zero and facts[differ_at])
        raw.exponent.next = exponent
        raw.frac.next = normal[sum_bits - 1 : 3]
        raw.guard.next = normal[2]
        raw.sticky.next = normal[2:] != 0 or facts[sticky_at]
        raw.is_nan.next = facts[nan_at]
        raw.is_inf.next = facts[inf_at]
        raw.is_zero.next = is_zero

    return (
        order,
        align,
        add,
        coarse,
        fine,
        unpack,
        fp_round(clk, raw=raw, y=y, fmt=fmt, registered=False),
    )
