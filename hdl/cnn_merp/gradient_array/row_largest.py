"""Largest exponent of the products of a tap in a sweep, and their distances from it."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv, modbv

from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.gradient_array.row_ports import Sweep, TapFactors
from merp.hdl.cnn_merp.gradient_array.row_scale import INFINITE_AT, NEGATIVE_AT, ZERO_AT
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_distances import EXPONENT_SUM_BITS, RANK_BITS
from merp.models.base.fused import DISTANCE_BITS, EXPONENT_BITS
from merp.models.machines.cnn_merp.params.row import CODE_BITS


@entity
def row_largest(
    clk: Bit,
    sweep: Sweep,
    factors: TapFactors,
    exponents: TapFactors,
    distance: Word,
    scale: Word,
    narrow: bool = False,
) -> Any:
    """Find the largest exponent of the products of a sweep, then measure each product against it.

    sweep      in   position of the factors and of the exponents in their sweep
    factors    in   in the format of row_scale
    exponents  in   exponents of the same factors, a second time
    distance   out  a cycle after exponents: distance of their sum below the largest. The highest
                    bit is set if the distance is 32 or more, or without a sweep
    scale      out  special (2 bits) above the largest sum of exponents, held

    Bit 0 of special stands for +infinity, bit 1 for -infinity, both together for a NaN. The
    distance of a zero product is undefined, and so is scale if all products are zero. With narrow
    factors, zero products are included: a zero factor has the exponent 0. Reset: none.
    """
    x, delta = factors.x, factors.delta
    rank_bits = EXPONENT_SUM_BITS if narrow else RANK_BITS
    rank, largest = bits(rank_bits), bits(rank_bits)
    held, held_code = bits(EXPONENT_SUM_BITS), bits(CODE_BITS)
    found, code = bits(CODE_BITS), bits(CODE_BITS)

    if narrow:

        @always_comb
        def add() -> None:
            rank.next = concat(False, x[EXPONENT_BITS:]) + delta[EXPONENT_BITS:]

    else:

        @always_comb
        def add() -> None:
            exponent = intbv(0)[EXPONENT_SUM_BITS:]
            exponent[:] = concat(False, x[EXPONENT_BITS:]) + delta[EXPONENT_BITS:]
            some = not x[ZERO_AT] and not delta[ZERO_AT]
            rank.next = concat(some, exponent)

    @always_comb
    def classify() -> None:
        infinite = x[INFINITE_AT] or delta[INFINITE_AT]
        zero = x[ZERO_AT] or delta[ZERO_AT]
        minus = x[NEGATIVE_AT] != delta[NEGATIVE_AT]
        below = infinite and (zero or minus)
        above = infinite and (zero or not minus)
        found.next = concat(below, above)

    @always(clk.posedge)
    def compare() -> None:
        if sweep.first or largest < rank:
            largest.next = rank
        if sweep.first:
            code.next = found
        else:
            code.next = code | found

    @always(clk.posedge)
    def hold() -> None:
        if sweep.keep_largest:
            held.next = largest[EXPONENT_SUM_BITS:]
            held_code.next = code
        if sweep.keep_scales:
            scale.next = concat(held_code, held)

    @always(clk.posedge)
    def subtract() -> None:
        exponent = intbv(0)[EXPONENT_SUM_BITS:]
        difference = modbv(0)[EXPONENT_SUM_BITS:]
        exponent[:] = concat(False, exponents.x) + exponents.delta
        difference[:] = held - exponent
        beyond = difference[EXPONENT_SUM_BITS : DISTANCE_BITS - 1] != 0 or not sweep.active
        distance.next = concat(beyond, difference[DISTANCE_BITS - 1 :])

    return add, classify, compare, hold, subtract
