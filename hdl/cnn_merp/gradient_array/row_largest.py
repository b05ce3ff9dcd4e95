"""The largest exponent of a tap's products in a sweep, and how far below it each of them lies."""

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
    """Compare the exponents of a sweep's products, and then measure each against the largest.

    sweep      in   what the factors and the exponents are of their sweep
    factors    in   as row_scale gives them
    exponents  in   the same factors' exponents, once more
    distance   out  a cycle after them: how much less than the largest their sum is, the highest
                    bit if 32 or more, or without a sweep
    scale      out  | what is no number (2 bits) | largest sum of exponents |, kept

    Bit 0 of what is no number stands for +infinity, bit 1 for -infinity, both for a NaN. Of a
    product that is zero the distance means nothing, nor does scale if all are. If the factors are
    narrow a product that is zero counts, with an exponent of 0 for the zero. Reset: none.
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
