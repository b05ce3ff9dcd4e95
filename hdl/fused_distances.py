"""The largest exponent of a window's products, and how far below it each of them lies."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, concat, intbv, modbv

from merp.hdl.bundles import bits
from merp.hdl.delay import delay
from merp.hdl.entity import entity
from merp.hdl.fused_activation import ZERO_AT
from merp.models.params.fused import (
    DISTANCE_BITS,
    EXPONENT_BITS,
    OPERAND_BITS,
    activation_bits,
    levels,
    product_latency,
)

EXPONENT_SUM_BITS = EXPONENT_BITS + 1
# | the product is not zero | sum of the exponents |: a zero is never the largest.
RANK_BITS = EXPONENT_SUM_BITS + 1


@block
def _rank(activation: Any, kernel: Any, rank: Any) -> Any:
    """Sum of the exponents of a product, and above it whether the product is other than zero."""
    top = OPERAND_BITS - 1

    @always_comb
    def add() -> None:
        exponent = intbv(0)[EXPONENT_SUM_BITS:]
        exponent[:] = concat(False, activation[EXPONENT_BITS:]) + kernel[EXPONENT_BITS:]
        some = not activation[ZERO_AT] and (kernel[top] or kernel[top - 1])
        rank.next = concat(some, exponent)

    return add


@block
def _larger(clk: Any, a: Any, b: Any, y: Any, registered: bool) -> Any:
    @(always(clk.posedge) if registered else always_comb)
    def choose() -> None:
        if a < b:
            y.next = b
        else:
            y.next = a

    return choose


@block
def _same(clk: Any, a: Any, y: Any, registered: bool) -> Any:
    @(always(clk.posedge) if registered else always_comb)
    def copy() -> None:
        y.next = a

    return copy


@block
def _distance(clk: Any, largest: Any, rank: Any, distance: Any) -> Any:
    @always(clk.posedge)
    def subtract() -> None:
        difference = modbv(0)[EXPONENT_SUM_BITS:]
        difference[:] = largest[EXPONENT_SUM_BITS:] - rank[EXPONENT_SUM_BITS:]
        beyond = difference[EXPONENT_SUM_BITS : DISTANCE_BITS - 1] != 0
        distance.next = concat(beyond, difference[DISTANCE_BITS - 1 :])

    return subtract


@entity
def fused_distances(
    clk: Any, activations: Any, kernels: Any, largest: Any, distances: Any, taps: int, dsp: int
) -> Any:
    """Find the largest exponent of the products, and how far each product has to be moved.

    activations  in   elements as fused_activation gives them, tap 0 in the lowest bits
    kernels      in   operands, likewise
    largest      out  the largest sum of two exponent fields among products other than zero
    distances    out  six bits for each tap: how much less its own is, the highest bit if 32 or more

    Of a zero the distance means nothing, nor does largest if all products are zero.
    Latency: product_latency. Throughput: one per cycle. Reset: none.
    """
    width, depth = activation_bits(dsp), levels(taps)
    ranks = [bits(RANK_BITS) for _ in range(taps)]
    adders = [
        _rank(
            activations((tap + 1) * width, tap * width),
            kernels((tap + 1) * OPERAND_BITS, tap * OPERAND_BITS),
            ranks[tap],
        )
        for tap in range(taps)
    ]

    # Two levels of the tree for each register, but a single one behind the adders.
    tree: list[Any] = []
    level = ranks
    for below in range(max(1, depth)):
        registered = below % 2 == 0 or below == depth - 1
        above = [bits(RANK_BITS) for _ in range((len(level) + 1) // 2)]
        for j in range(len(level) // 2):
            tree.append(_larger(clk, level[2 * j], level[2 * j + 1], above[j], registered))
        if len(level) % 2:
            tree.append(_same(clk, level[-1], above[-1], registered))
        level = above
    top = level[0]

    found = 1 + depth // 2
    waiting = product_latency(taps) - found  # for the product, from when the largest is known
    waited = bits(RANK_BITS)
    late = [bits(RANK_BITS) for _ in range(taps)]
    moves = [bits(DISTANCE_BITS) for _ in range(taps)]
    aligned = [
        delay(clk, top, waited, waiting - 1) if waiting > 1 else _same(clk, top, waited, False),
        *(delay(clk, ranks[tap], late[tap], found + waiting - 1) for tap in range(taps)),
    ]
    subtractors = [_distance(clk, waited, late[tap], moves[tap]) for tap in range(taps)]
    joined = ConcatSignal(*reversed(moves)) if taps > 1 else moves[0]

    @always(clk.posedge)
    def keep() -> None:
        largest.next = waited[EXPONENT_SUM_BITS:]

    @always_comb
    def join() -> None:
        distances.next = joined

    return adders, tree, aligned, subtractors, keep, join
