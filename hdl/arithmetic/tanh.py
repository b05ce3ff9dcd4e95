"""Hyperbolic tangent of a binary32, from a table of quadratic polynomials."""

from __future__ import annotations

from typing import Any

from myhdl import always, block, concat, intbv, modbv

from merp.hdl.base.delay import delay
from merp.hdl.base.rom import rom
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat
from merp.models.base.tanh_table import (
    C0_BITS,
    C1_BITS,
    C2_BITS,
    GUARD,
    HIGHEST,
    LOWEST,
    OFFSET_BITS,
    SCALE,
    SEGMENT_BITS,
    TANH_LATENCY,
    check_format,
    tanh_table,
)


class _Facts:
    """What the end of the pipeline needs to know of the element.

    scale   exponent of the result, if the value is from 1 to 2
    passes  the element is the result: it is small, or a NaN
    ends    the result is 1
    """

    def __init__(self, fmt: FloatFormat) -> None:
        self.scale = bits(fmt.exp_bits)
        self.passes = flag()
        self.ends = flag()


@block
def _choose_segment(
    clk: Bit, x: Word, index: Word, place: Word, facts: _Facts, own: Word, fmt: FloatFormat
) -> Any:
    """Register the segment of an element, its place there, and what else decides."""
    sign_at, frac_bits = fmt.width - 1, fmt.frac_bits
    low, high, bias = fmt.bias + LOWEST, fmt.bias + HIGHEST, fmt.bias
    top, span, nan, exp_max = OFFSET_BITS + len(index), len(index), fmt.nan, fmt.exp_max
    first = (low << SEGMENT_BITS) % (1 << span)

    @always(clk.posedge)
    def choose() -> None:
        exponent = intbv(0)[fmt.exp_bits :]
        found = intbv(0)[span + 1 :]
        exponent[:] = x[sign_at:frac_bits]
        # Modulo the number of segments; it is not used outside the octaves.
        found[:] = concat(True, x[top:OFFSET_BITS]) - first
        index.next = found[span:]
        place.next = x[OFFSET_BITS:]
        facts.scale.next = exponent
        if exponent > bias:
            facts.scale.next = bias
        facts.passes.next = exponent < low or (exponent == exp_max and x[frac_bits:] != 0)
        facts.ends.next = exponent > high
        own.next = x
        if exponent == 0:
            own.next = concat(x[sign_at], intbv(0)[sign_at:])
        if exponent == exp_max and x[frac_bits:] != 0:
            own.next = nan

    return choose


@block
def _evaluate(clk: Bit, entry: Word, place: Word, value: Word) -> Any:
    """Compute c0 + (c1 - c2 u) u, four cycles after the coefficients."""
    c0, c1 = entry(C0_BITS, 0), entry(C0_BITS + C1_BITS, C0_BITS)
    c2 = entry(len(entry), C0_BITS + C1_BITS)
    bent, slope = bits(C2_BITS + OFFSET_BITS), bits(C1_BITS + GUARD)
    risen = bits(C1_BITS + GUARD + OFFSET_BITS)
    straight, base, beside, further = (
        bits(C1_BITS), bits(C0_BITS), bits(OFFSET_BITS), bits(OFFSET_BITS)
    )  # fmt: skip
    lost, dropped = OFFSET_BITS - GUARD, OFFSET_BITS + GUARD

    @always(clk.posedge)
    def multiply() -> None:
        bent.next = c2 * place
        straight.next = c1
        beside.next = place

    @always(clk.posedge)
    def subtract() -> None:
        slope.next = (straight << GUARD) - (bent >> lost)
        further.next = beside

    @always(clk.posedge)
    def rise() -> None:
        risen.next = slope * further

    @always(clk.posedge)
    def add() -> None:
        value.next = base + (risen >> dropped)

    return multiply, subtract, rise, add, delay(clk, d=c0, q=base, cycles=3)


@entity
def tanh(clk: Bit, x: Word, y: Word, fmt: FloatFormat) -> Any:
    """Compute the hyperbolic tangent of an element.

    x  in   element
    y  out  tanh(x), within 0.65 units in the last place; it never decreases with x

    A magnitude below 2^-12 passes, and a subnormal becomes a signed zero. A magnitude from 16 on
    gives 1 with its sign, and a NaN gives the canonical quiet NaN. Between, a table selects one of
    128 quadratic polynomials of each octave. Latency: 7 cycles. Throughput: one element per cycle.
    Reset: none.
    """
    check_format(fmt)
    table = tanh_table()
    span = (len(table.c0) - 1).bit_length()
    sign_at, frac_bits, width, one = fmt.width - 1, fmt.frac_bits, fmt.width, fmt.one
    index, place, late_place = bits(span), bits(OFFSET_BITS), bits(OFFSET_BITS)
    entry, value = bits(C0_BITS + C1_BITS + C2_BITS), bits(C0_BITS)
    words = tuple((c2 << C1_BITS | c1) << C0_BITS | c0 for c0, c1, c2 in zip(*table, strict=True))
    early, facts, own, late_own = _Facts(fmt), _Facts(fmt), bits(width), bits(width)
    after = TANH_LATENCY - 2  # cycles from the registered element to its value
    lost = SCALE - frac_bits

    return (
        _choose_segment(clk, x=x, index=index, place=place, facts=early, own=own, fmt=fmt),
        rom(clk, address=index, word=entry, table=words),
        delay(clk, d=place, q=late_place, cycles=1),
        _evaluate(clk, entry=entry, place=late_place, value=value),
        delay(clk, d=own, q=late_own, cycles=after),
        [
            delay(clk, d=getattr(early, each), q=getattr(facts, each), cycles=after)
            for each in ("scale", "passes", "ends")
        ],
        _round_value(
            clk, value=value, facts=facts, own=late_own, y=y, one=one, sign_at=sign_at,
            frac_bits=frac_bits, lost=lost,
        ),
    )  # fmt: skip


@block
def _round_value(
    clk: Bit,
    value: Word,
    facts: _Facts,
    own: Word,
    y: Word,
    one: int,
    sign_at: int,
    frac_bits: int,
    lost: int,
) -> Any:
    """Normalise a value from 1/2 to 2, round it to nearest even and pack it."""
    low = lost - 1  # bits below the last place of a value below 1
    binade = 1 << frac_bits

    @always(clk.posedge)
    def finish() -> None:
        size = modbv(0)[sign_at:]
        if value[SCALE]:
            up = value[low] and (value[low:] != 0 or value[lost])
            size[:] = concat(facts.scale, value[SCALE:lost]) + up
        else:
            up = value[low - 1] and (value[low - 1 :] != 0 or value[low])
            size[:] = concat(facts.scale, value[SCALE - 1 : low]) - binade + up
        if facts.ends:
            size[:] = one
        if facts.passes:
            size[:] = own[sign_at:]
        y.next = concat(own[sign_at], size)

    return finish
