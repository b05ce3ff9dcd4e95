"""Decode windows and deltas for both passes of the row-wise kernel update, once for all CUs."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.gradient_array.row_scale import row_scale
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_activation import fused_activation
from merp.hdl.fused.fused_operand import fused_operand
from merp.models.base.fused import (
    EXPONENT_BITS,
    FRACTION_BITS,
    OPERAND_BITS,
    activation_bits,
)
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.row import SCALE, SCALE_BITS


@entity
def row_operands(
    clk: Bit,
    words: Word,
    late_words: Word,
    scales: Word,
    exponents: Word,
    activations: Word,
    deltas: Word,
    design: EngineDesign,
) -> Any:
    """Decode the words of a slot as they arrive, and again a row later.

    words        in   deltas of all CUs above a window, CU 0 and tap 0 lowest
    scales       out  one for each word, SCALE cycles later
    late_words   in   the same words, for the mantissa pass
    exponents    out  one for each word, SCALE cycles later
    activations  out  the elements of the window: exponents and flags after one cycle, mantissas
                      after two
    deltas       out  operands, a cycle later

    Throughput: a slot per cycle. Reset: none.
    """
    taps, n_cu, width = design.taps, design.n_cu, design.fmt.width
    count = taps + n_cu
    scale = [bits(SCALE_BITS) for _ in range(count)]
    element = [bits(activation_bits(design.fused_dsp)) for _ in range(taps)]
    operand = [bits(OPERAND_BITS) for _ in range(n_cu)]
    all_scales = ConcatSignal(*reversed(scale))
    all_exponents = ConcatSignal(
        *(
            late_words(j * width + FRACTION_BITS + EXPONENT_BITS, j * width + FRACTION_BITS)
            for j in reversed(range(count))
        )
    )
    all_elements = ConcatSignal(*reversed(element)) if taps > 1 else element[0]
    all_operands = ConcatSignal(*reversed(operand)) if n_cu > 1 else operand[0]

    decoders = [
        *(
            row_scale(clk, word=words((j + 1) * width, j * width), scale=scale[j])
            for j in range(count)
        ),
        *(
            fused_activation(
                clk,
                word=late_words((j + 1) * width, j * width),
                activation=element[j],
                dsp=design.fused_dsp,
            )
            for j in range(taps)
        ),
        *(
            fused_operand(
                word=late_words((taps + j + 1) * width, (taps + j) * width), operand=operand[j]
            )
            for j in range(n_cu)
        ),
    ]

    @always_comb
    def join() -> None:
        activations.next = all_elements

    waits = [
        delay(clk, d=all_scales, q=scales, cycles=SCALE - 1),
        delay(clk, d=all_exponents, q=exponents, cycles=SCALE),
        delay(clk, d=all_operands, q=deltas, cycles=1),
    ]
    return decoders, join, waits
