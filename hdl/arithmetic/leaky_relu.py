"""Leaky ReLU of one lane: a multiplier next to the ReLU."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.arithmetic.fp_mul import fp_mul
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat


@entity
def leaky_relu(
    clk: Bit,
    leaky: Bit,
    slope: Word,
    x: Word,
    rectified: Word,
    y: Word,
    fmt: FloatFormat,
    latency: int,
) -> Any:
    """Multiply negative elements by a slope, or take the result of ReLU.

    leaky      in   multiply; else y is rectified
    slope      in   the factor
    x          in   element, the sign in the highest bit
    rectified  in   the element behind ReLU, which keeps every element that is not negative
    y          out  result

    A NaN is not negative, as in relu. Latency: latency cycles, 1 to 3, also without leaky.
    Throughput: an element per cycle. Reset: none.
    """
    width = fmt.width
    sign = width - 1
    product, plain = bits(width), bits(width)
    leaks, leaked = flag(), flag()

    @always_comb
    def judge() -> None:
        leaks.next = leaky and x[sign]

    @always_comb
    def choose() -> None:
        if leaked:
            y.next = product
        else:
            y.next = plain

    return (
        judge,
        fp_mul(clk, a=x, b=slope, y=product, fmt=fmt, latency=latency),
        delay(clk, d=rectified, q=plain, cycles=latency),
        delay(clk, d=leaks, q=leaked, cycles=latency),
        choose,
    )
