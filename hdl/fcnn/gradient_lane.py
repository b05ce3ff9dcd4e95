"""Multipliers and sums of one lane and one output map of a gradient module."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.arithmetic.fp_mul import fp_mul
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fcnn.turn_sum import SumStore, turn_sum
from merp.models.machines.fcnn.params.stream_design import StreamDesign


@entity
def gradient_lane(
    clk: Bit,
    window: Word,
    delta: Word,
    places: Word,
    clears: Word,
    store: SumStore,
    sums: Word,
    design: StreamDesign,
    first: int,
) -> Any:
    """Multiply a window by a delta, and add each product to one of A sums of its tap.

    window   in   k*k elements, the first one lowest
    delta    in   the delta of the window
    places   in   A places, the first lowest: the sum that is read by element e is place e mod A
    clears   in   a bit per place: the sum is read as +0
    write    in   add_latency + 1 cycles after a place: its sum is stored
    written  in   place of the sum that is stored
    sums     out  a cycle after places: the sum of the bias, lowest, then those of the k*k taps

    The lane's elements are the bias and the k*k taps. They are elements ``first``, ``first + 1``,
    ... of the module. The product of the bias is the delta itself. A window and its delta are
    given mul_latency - 1 cycles before their place. Latency: mul_latency + 1 + add_latency cycles
    from a window to the stored sums. Throughput: a window per cycle. Reset: none.
    """
    width, taps, fmt, turns = design.fmt.width, design.taps, design.fmt, design.accumulators
    size = len(places) // turns
    products = [bits(width) for _ in range(taps + 1)]
    words = [bits(width) for _ in range(taps + 1)]
    joined, nothing = ConcatSignal(*reversed(words)), bits(width)

    @always_comb
    def give() -> None:
        sums.next = joined

    def turn(element: int) -> int:
        return (first + element) % turns

    multiply = [
        fp_mul(
            clk, a=window((tap + 1) * width, tap * width), b=delta, y=products[tap + 1], fmt=fmt,
            latency=design.mul_latency,
        )
        for tap in range(taps)
    ]  # fmt: skip
    add = [
        turn_sum(
            clk, place=places((turn(e) + 1) * size, turn(e) * size), begin=clears(turn(e)),
            first=nothing, product=products[e], store=store, word=words[e], fmt=fmt, words=turns,
            latency=design.add_latency,
        )
        for e in range(taps + 1)
    ]  # fmt: skip
    beside = delay(clk, d=delta, q=products[0], cycles=design.mul_latency)
    return give, multiply, beside, add
