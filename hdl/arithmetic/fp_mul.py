"""Float multiplier with one rounding; subnormals are flushed to zero.

IEEE 754-2019 clause 5.4.1 without subnormals, exceptions and NaN payloads.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, concat, modbv

from merp.hdl.arithmetic.fp_round import RawFloat, fp_round
from merp.hdl.arithmetic.low_product import low_product
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import DSP_BITS, FloatFormat

# latency -> register after (multiply, round); the result is always registered.
CUTS = {1: (False, False), 2: (True, False), 3: (True, True)}


@block
def _multiply(a: Word, b: Word, y: Word) -> Any:
    @always_comb
    def multiply() -> None:
        y.next = a * b

    return multiply


@block
def _lower(
    clk: Bit, a: Word, b: Word, upper: Word, product: Word, low: int, beside: bool, registered: bool
) -> Any:
    """Add the product of the low bits of b, from a DSP block or from logic."""
    size = len(product) // 2 + low
    significand, found, lower = bits(len(product) // 2), bits(size), bits(size)
    frac = a(len(product) // 2 - 1, 0)
    times = low_product if beside else _multiply

    @always_comb
    def complete() -> None:
        significand.next = concat(True, frac)

    @(always(clk.posedge) if registered else always_comb)
    def hold() -> None:
        lower.next = found

    @always_comb
    def join() -> None:
        product.next = (upper << low) + lower

    return complete, times(a=significand, b=b(low, 0), y=found), hold, join


@entity
def fp_mul(
    clk: Bit,
    a: Word,
    b: Word,
    y: Word,
    fmt: FloatFormat,
    latency: int,
    beside: int = 0,
    late: bool = False,
) -> Any:
    """Multiply two floats.

    a, b  in   factors
    y     out  product, rounded to nearest even

    A subnormal factor counts as a signed zero, and a product below the smallest normal becomes one.
    Infinities are kept; NaN, and 0 times infinity, give the canonical quiet NaN. Logic next to the
    DSP blocks multiplies the lowest ``beside`` bits of the fraction of b. If the factors arrive
    ``late`` in their cycle, for example from a block RAM, they pass one DSP block before a
    register. Latency: latency cycles. Throughput: one product per cycle. Reset: none.
    """
    if latency not in CUTS:
        raise ValueError(f"latency must be 1 to 3, not {latency}")
    cut_multiply, cut_round = CUTS[latency]

    frac_bits, exp_max, bias = fmt.frac_bits, fmt.exp_max, fmt.bias
    sign_at = fmt.width - 1
    sig_bits = frac_bits + 1
    # ea + eb - bias + 1 is within -bias .. 3 * bias + 2.
    exp_width = fmt.exp_bits + 2

    # | 1 or 0 | 1 | 2 * frac_bits of fraction |
    product = bits(2 * sig_bits)
    # A product that needs two DSP blocks has them in series, or in parallel if the factors are
    # late.
    apart = late and cut_round and sig_bits > DSP_BITS
    low = beside or (sig_bits - DSP_BITS if apart else 0)
    upper = bits(2 * sig_bits - low) if low else product
    exponent = bits(exp_width)  # exponent of a product below 2, in two's complement
    sign, is_nan, is_inf, is_zero = flag(), flag(), flag(), flag()
    raw = RawFloat(exp_width, fmt)

    @(always(clk.posedge) if cut_multiply else always_comb)
    def multiply() -> None:
        exp_sum = modbv(0)[exp_width:]
        a_special = a[sign_at:frac_bits] == exp_max
        b_special = b[sign_at:frac_bits] == exp_max
        a_zero = a[sign_at:frac_bits] == 0
        b_zero = b[sign_at:frac_bits] == 0
        # The hidden bit is always one: a flag marks a zero factor, so only the fraction is in front
        # of the DSP blocks.
        upper.next = concat(True, a[frac_bits:]) * concat(True, b[frac_bits:low])
        exp_sum[:] = a[sign_at:frac_bits] + b[sign_at:frac_bits] - bias
        exponent.next = exp_sum
        sign.next = a[sign_at] != b[sign_at]
        is_zero.next = a_zero or b_zero
        is_inf.next = a_special or b_special
        is_nan.next = (a_special and (a[frac_bits:] != 0 or b_zero)) or (
            b_special and (b[frac_bits:] != 0 or a_zero)
        )

    # If parts of a product are joined in front of the register, the register precedes the rounding.
    cut_normalise = bool(low) and cut_round

    @(always(clk.posedge) if cut_normalise else always_comb)
    def normalise() -> None:
        exp_next = modbv(0)[exp_width:]
        exp_next[:] = exponent + product[2 * sig_bits - 1]
        raw.exponent.next = exp_next
        if product[2 * sig_bits - 1]:
            raw.frac.next = product[2 * sig_bits - 1 : sig_bits]
            raw.guard.next = product[sig_bits - 1]
            raw.sticky.next = product[sig_bits - 1 :] != 0
        else:
            raw.frac.next = product[2 * sig_bits - 2 : sig_bits - 1]
            raw.guard.next = product[sig_bits - 2]
            raw.sticky.next = product[sig_bits - 2 :] != 0
        raw.sign.next = sign
        raw.is_nan.next = is_nan
        raw.is_inf.next = is_inf
        raw.is_zero.next = is_zero

    lower: Any = []
    if low:
        lower = _lower(
            clk,
            a=a,
            b=b,
            upper=upper,
            product=product,
            low=low,
            beside=bool(beside),
            registered=cut_multiply,
        )
    cut_round = cut_round and not cut_normalise
    return multiply, normalise, fp_round(clk, raw=raw, y=y, fmt=fmt, registered=cut_round), lower
