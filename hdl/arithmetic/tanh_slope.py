"""Derivative of tanh, from its result: the delta behind it becomes the delta in front of it."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, concat

from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.arithmetic.fp_mul import fp_mul
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat
from merp.models.base.tanh_table import check_format


@entity
def tanh_slope(
    clk: Bit,
    delta: Word,
    y: Word,
    product: Word,
    fmt: FloatFormat,
    mul_latency: int,
    add_latency: int,
) -> Any:
    """Multiply a delta by 1 - y^2, computed as (1 - y) (1 + y).

    delta    in   the delta of y
    y        in   a result of tanh
    product  out  RN(delta * RN(RN(1 - y) * RN(1 + y)))

    Every operation rounds to nearest even. Latency: add_latency + 2 mul_latency cycles. Throughput:
    one delta per cycle. Reset: none.
    """
    check_format(fmt)
    width = fmt.width
    sign_at, one = width - 1, fmt.one
    unit, negative = bits(width, one), bits(width)
    less, more, slope, late = bits(width), bits(width), bits(width), bits(width)

    @always_comb
    def negate() -> None:
        negative.next = concat(not y[sign_at], y[sign_at:])

    return (
        negate,
        fp_add(clk, a=unit, b=negative, y=less, fmt=fmt, latency=add_latency),
        fp_add(clk, a=unit, b=y, y=more, fmt=fmt, latency=add_latency),
        fp_mul(clk, a=less, b=more, y=slope, fmt=fmt, latency=mul_latency),
        delay(clk, d=delta, q=late, cycles=add_latency + mul_latency),
        fp_mul(clk, a=late, b=slope, y=product, fmt=fmt, latency=mul_latency),
    )
