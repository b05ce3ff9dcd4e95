"""Add or subtract the product of a factor and a word: a step of gradient descent."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block, concat

from merp.hdl.arithmetic.fp_add import fp_add
from merp.hdl.arithmetic.fp_mul import fp_mul
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.behavioural.scaled_sum import scaled_sum_fast
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.base.formats import FloatFormat


@block
def _negate(x: Word, y: Word) -> Any:
    sign_at = len(x) - 1

    @always_comb
    def flip() -> None:
        if x[sign_at]:
            y.next = concat(False, x[sign_at:])
        else:
            y.next = concat(True, x[sign_at:])

    return flip


@entity(twin=scaled_sum_fast)
def scaled_sum(
    clk: Bit,
    factor: Word,
    x: Word,
    addend: Word,
    y: Word,
    subtract: bool,
    fmt: FloatFormat,
    mul_latency: int,
    add_latency: int,
    beside: int = 0,
) -> Any:
    """Compute addend plus (or minus) factor times x; product and sum are rounded.

    factor, x, addend  in   words; factor is constant while results are used
    y                  out  RN(addend + RN(factor * x)), with subtract RN(addend - RN(factor * x))

    ``beside`` is the parameter of the multiplier.

    Latency: mul_latency + add_latency. Throughput: one per cycle. Reset: none.
    """
    product = bits(fmt.width)
    late = bits(fmt.width)
    multiply = fp_mul(clk, a=factor, b=x, y=product, fmt=fmt, latency=mul_latency, beside=beside)
    align = delay(clk, d=addend, q=late, cycles=mul_latency)
    if not subtract:
        return multiply, align, fp_add(clk, a=product, b=late, y=y, fmt=fmt, latency=add_latency)
    minus = bits(fmt.width)
    negate = _negate(x=product, y=minus)
    return multiply, align, negate, fp_add(clk, a=minus, b=late, y=y, fmt=fmt, latency=add_latency)
