"""Sum of products of narrow significands with one rounding: smaller units than for binary32.

The unit works as ``cu_fused``, but its unsigned products come from DSP blocks that two units share.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_distances import EXPONENT_SUM_BITS, fused_distances
from merp.hdl.fused.fused_normalise import fused_normalise
from merp.hdl.fused.fused_sum import fused_sum
from merp.hdl.fused.narrow_align import narrow_align
from merp.hdl.fused.narrow_special import narrow_special
from merp.models.base.fused import (
    ALIGN,
    DISTANCE_BITS,
    PRODUCT,
    lateness,
    levels,
    product_latency,
    sum_latency,
)
from merp.models.machines.cnn_merp.params.design import EngineDesign

SPECIAL = 3  # latency of narrow_special
SIGN = 1  # latency of its signs


@entity
def cu_narrow(
    clk: Bit, window: Word, kernel: Word, products: Word, y: Word, design: EngineDesign
) -> Any:
    """Add the products of k*k activations and a kernel, exactly within a window of bits.

    window    in   elements in the format of narrow_activation, tap 0 (row 0, column 0) lowest
    kernel    in   operands, tap 0 lowest
    products  in   products of their significands, PRODUCT cycles later
    y         out  the sum, in the format of the accumulator

    Latency: cu_latency - 1. Throughput: one sum per cycle. Reset: none.
    """
    taps, width, significand = design.taps, design.fused_window, design.operand_precision
    size, multiplied = 2 * significand, product_latency(taps)
    before_sum, in_sum = multiplied + ALIGN, sum_latency(taps)

    terms = [bits(width) for _ in range(taps)]
    distances = bits(taps * DISTANCE_BITS)
    joined = ConcatSignal(*reversed(terms)) if taps > 1 else terms[0]
    all_terms, total = bits(taps * width), bits(width + levels(taps))
    largest, largest_s = bits(EXPONENT_SUM_BITS), bits(EXPONENT_SUM_BITS)
    minus, minus_s = bits(taps), bits(taps)
    special, special_s = bits(3), bits(3)
    late = bits(taps * size) if multiplied > PRODUCT else products

    measure = fused_distances(
        clk,
        activations=window,
        kernels=kernel,
        largest=largest,
        distances=distances,
        taps=taps,
        dsp=1,
        significand=significand,
    )
    classify = narrow_special(
        clk, activations=window, kernels=kernel, minus=minus, special=special, taps=taps
    )
    shifters = [
        narrow_align(
            clk,
            product=late((tap + 1) * size, tap * size),
            minus=minus_s(tap),
            distance=distances((tap + 1) * DISTANCE_BITS, tap * DISTANCE_BITS),
            term=terms[tap],
            later=lateness(tap, taps),
        )
        for tap in range(taps)
    ]

    @always_comb
    def join() -> None:
        all_terms.next = joined

    add = fused_sum(clk, terms=all_terms, total=total, count=taps)
    beside = [
        delay(clk, d=minus, q=minus_s, cycles=multiplied - SIGN),
        delay(clk, d=largest, q=largest_s, cycles=ALIGN + in_sum),
        delay(clk, d=special, q=special_s, cycles=before_sum + in_sum - SPECIAL),
    ]
    if multiplied > PRODUCT:
        beside.append(delay(clk, d=products, q=late, cycles=multiplied - PRODUCT))
    finish = fused_normalise(
        clk,
        total=total,
        largest=largest_s,
        special=special_s,
        y=y,
        window=width,
        fmt=design.accumulator_format,
    )
    return measure, classify, shifters, join, add, beside, finish
