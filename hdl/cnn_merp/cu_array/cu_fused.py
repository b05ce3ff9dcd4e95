"""Sum of products with one rounding: the computational unit that fits the paper's FPGA.

Products are aligned to the largest exponent of the window. Their sum is an exact integer, which is
normalised and rounded once. The unit needs no rounding adder, and its error is smaller than the
error of a tree of such adders.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_align import fused_align
from merp.hdl.fused.fused_distances import EXPONENT_SUM_BITS, fused_distances
from merp.hdl.fused.fused_normalise import fused_normalise
from merp.hdl.fused.fused_product import fused_product
from merp.hdl.fused.fused_special import fused_special
from merp.hdl.fused.fused_sum import fused_sum
from merp.models.base.fused import (
    ALIGN,
    DISTANCE_BITS,
    OPERAND_BITS,
    activation_bits,
    lateness,
    levels,
    product_latency,
    sum_latency,
)
from merp.models.machines.cnn_merp.params.design import EngineDesign

SPECIAL = 3  # latency of fused_special


@entity
def cu_fused(clk: Bit, window: Word, kernel: Word, y: Word, design: EngineDesign) -> Any:
    """Multiply k*k activations by a kernel and add the products, exactly within a window of bits.

    window  in   elements in the format of fused_activation, tap 0 (row 0, column 0) lowest
    kernel  in   operands, tap 0 lowest
    y       out  the sum, in the format of the accumulator

    Latency: cu_latency - 1. Throughput: one sum per cycle. Reset: none.
    """
    taps, dsp, width = design.taps, design.fused_dsp, design.fused_window
    activation_width = activation_bits(dsp)
    before_sum, in_sum = product_latency(taps) + ALIGN, sum_latency(taps)

    products = [bits(width) for _ in range(taps)]
    terms = [bits(width) for _ in range(taps)]
    distances = bits(taps * DISTANCE_BITS)
    joined = ConcatSignal(*reversed(terms)) if taps > 1 else terms[0]
    all_terms, total = bits(taps * width), bits(width + levels(taps))
    largest, largest_s = bits(EXPONENT_SUM_BITS), bits(EXPONENT_SUM_BITS)
    special, special_s = bits(3), bits(3)

    multipliers = [
        fused_product(
            clk,
            activation=window((tap + 1) * activation_width, tap * activation_width),
            kernel=kernel((tap + 1) * OPERAND_BITS, tap * OPERAND_BITS),
            y=products[tap],
            dsp=dsp,
            latency=product_latency(taps),
        )
        for tap in range(taps)
    ]
    measure = fused_distances(
        clk,
        activations=window,
        kernels=kernel,
        largest=largest,
        distances=distances,
        taps=taps,
        dsp=dsp,
    )
    shifters = [
        fused_align(
            clk,
            product=products[tap],
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
    classify = fused_special(
        clk, activations=window, kernels=kernel, special=special, taps=taps, dsp=dsp
    )
    beside = [
        delay(clk, d=largest, q=largest_s, cycles=ALIGN + in_sum),
        delay(clk, d=special, q=special_s, cycles=before_sum + in_sum - SPECIAL),
    ]
    finish = fused_normalise(
        clk,
        total=total,
        largest=largest_s,
        special=special_s,
        y=y,
        window=width,
        fmt=design.accumulator_format,
    )
    return multipliers, measure, shifters, join, add, classify, beside, finish
