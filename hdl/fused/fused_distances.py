"""Largest exponent of the products of a window, and the distance of each product from it."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, concat, intbv, modbv

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_activation import ZERO_AT
from merp.models.base.fused import (
    DISTANCE_BITS,
    EXPONENT_BITS,
    NARROW,
    OPERAND_BITS,
    WIDE,
    activation_bits,
    levels,
    operand_bits,
    product_latency,
)

EXPONENT_SUM_BITS = EXPONENT_BITS + 1
# | the product is not zero | sum of the exponents |: a zero is never the largest.
RANK_BITS = EXPONENT_SUM_BITS + 1


@block
def _rank(activation: Word, kernel: Word, rank: Word) -> Any:
    """Add the exponents of a product; a flag above the sum marks a nonzero product."""
    top = OPERAND_BITS - 1

    @always_comb
    def add() -> None:
        exponent = intbv(0)[EXPONENT_SUM_BITS:]
        exponent[:] = concat(False, activation[EXPONENT_BITS:]) + kernel[EXPONENT_BITS:]
        some = not activation[ZERO_AT] and (kernel[top] or kernel[top - 1])
        rank.next = concat(some, exponent)

    return add


@block
def _narrow_rank(activation: Word, kernel: Word, rank: Word) -> Any:
    """Add the exponents of a product; the exponent of a zero is 0, as if it were 2^-127."""

    @always_comb
    def add() -> None:
        rank.next = concat(False, activation[EXPONENT_BITS:]) + kernel[EXPONENT_BITS:]

    return add


@block
def _compare(clk: Bit, a: Word, b: Word, less: Bit, registered: bool) -> Any:
    @(always(clk.posedge) if registered else always_comb)
    def compare() -> None:
        less.next = a < b

    return compare


@block
def _choose(less: Bit, a: Word, b: Word, y: Word) -> Any:
    @always_comb
    def choose() -> None:
        if less:
            y.next = b
        else:
            y.next = a

    return choose


@block
def _distance(clk: Bit, largest: Word, rank: Word, distance: Word) -> Any:
    @always(clk.posedge)
    def subtract() -> None:
        difference = modbv(0)[EXPONENT_SUM_BITS:]
        difference[:] = largest[EXPONENT_SUM_BITS:] - rank[EXPONENT_SUM_BITS:]
        beyond = difference[EXPONENT_SUM_BITS : DISTANCE_BITS - 1] != 0
        distance.next = concat(beyond, difference[DISTANCE_BITS - 1 :])

    return subtract


@entity
def fused_distances(
    clk: Bit,
    activations: Word,
    kernels: Word,
    largest: Word,
    distances: Word,
    taps: int,
    dsp: int,
    significand: int = WIDE,
) -> Any:
    """Find the largest exponent of the products, and the shift distance of each product.

    activations  in   elements in the format of fused_activation, tap 0 in the lowest bits
    kernels      in   operands, tap 0 in the lowest bits
    largest      out  the largest sum of two exponent fields among the nonzero products
    distances    out  six bits for each tap: the distance of its sum below the largest. The highest
                      bit is set if the distance is 32 or more.

    The distance of a zero is undefined, and so is largest if all products are zero. With narrow
    significands, zero products are included: a zero factor has the exponent 0. Latency:
    product_latency. Throughput: one per cycle. Reset: none.
    """
    width, depth = activation_bits(dsp, significand), levels(taps)
    kernel_width, narrow = operand_bits(significand), significand in NARROW
    rank_bits, rank = (EXPONENT_SUM_BITS, _narrow_rank) if narrow else (RANK_BITS, _rank)
    ranks = [bits(rank_bits) for _ in range(taps)]
    adders = [
        rank(
            activation=activations((tap + 1) * width, tap * width),
            kernel=kernels((tap + 1) * kernel_width, tap * kernel_width),
            rank=ranks[tap],
        )
        for tap in range(taps)
    ]

    first = [bits(rank_bits) for _ in range(taps)]
    held_ranks = [delay(clk, d=ranks[tap], q=first[tap], cycles=1) for tap in range(taps)]

    # There is a register after every two levels of the tree, but after a single level behind the
    # adders. Registers lie between comparison and selection, because then the delayed ranks are the
    # same.
    tree: list[Any] = []
    level = ranks if depth else first
    for below in range(depth):
        registered = below % 2 == 0 or below == depth - 1
        held = level
        if below == 0:
            held = first
        elif registered:
            held = [bits(rank_bits) for _ in level]
            tree += [delay(clk, d=level[j], q=held[j], cycles=1) for j in range(len(level))]
        above = []
        for j in range(0, len(level) - 1, 2):
            less, larger = flag(), bits(rank_bits)
            tree.append(_compare(clk, a=level[j], b=level[j + 1], less=less, registered=registered))
            tree.append(_choose(less=less, a=held[j], b=held[j + 1], y=larger))
            above.append(larger)
        level = above + held[len(above) * 2 :]
    top = level[0]

    # A small tree waits for the product.
    spare = product_latency(taps) - 2 - depth // 2
    latest = bits(rank_bits) if spare else top
    if spare:
        tree.append(delay(clk, d=top, q=latest, cycles=spare))
    last = [bits(rank_bits) for _ in range(taps)]
    tree += [
        delay(clk, d=first[tap], q=last[tap], cycles=product_latency(taps) - 2)
        for tap in range(taps)
    ]
    moves = [bits(DISTANCE_BITS) for _ in range(taps)]
    subtractors = [
        _distance(clk, largest=latest, rank=last[tap], distance=moves[tap]) for tap in range(taps)
    ]
    joined = ConcatSignal(*reversed(moves)) if taps > 1 else moves[0]

    @always(clk.posedge)
    def keep() -> None:
        largest.next = latest[EXPONENT_SUM_BITS:]

    @always_comb
    def join() -> None:
        distances.next = joined

    return adders, held_ranks, tree, subtractors, keep, join
