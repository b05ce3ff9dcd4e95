"""Windows and deltas decoded for both passes of the kernel update in rows, once for all CUs."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.cu_array.decoded import decoded_activation, decoded_operand
from merp.hdl.cnn_merp.gradient_array.row_scale import row_scale
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.row import SCALE, SCALE_BITS
from merp.models.params.fused import activation_bits, operand_bits


@entity
def row_operands(
    clk: Bit,
    words: Word,
    late_words: Word,
    scales: Word,
    exponents: Word,
    activations: Word,
    deltas: Word,
    design: Design,
) -> Any:
    """Decode a slot's words as they come, and a row later.

    words        in   deltas of all CUs above a window, CU 0 and tap 0 lowest
    scales       out  of each, SCALE cycles later
    late_words   in   the same words, for the mantissa pass
    exponents    out  of each, SCALE cycles later, of a narrow one below its sign
    activations  out  the window's elements; a cycle later exponents and flags, two the mantissas
    deltas       out  operands, a cycle later

    Throughput: a slot per cycle. Reset: none.
    """
    taps, n_cu, width = design.taps, design.n_cu, design.factor_format.width
    count, bits_of_element = (
        taps + n_cu,
        activation_bits(design.fused_dsp, design.operand_precision),
    )
    # Of narrow factors with their signs, as products have none.
    lower, upper = design.factor_format.frac_bits, width - (0 if design.summation.narrow else 1)
    scale = [bits(SCALE_BITS) for _ in range(count)]
    element = [bits(bits_of_element) for _ in range(taps)]
    operand = [bits(operand_bits(design.operand_precision)) for _ in range(n_cu)]
    all_scales = ConcatSignal(*reversed(scale))
    all_exponents = ConcatSignal(
        *(late_words(j * width + upper, j * width + lower) for j in reversed(range(count)))
    )
    all_elements = ConcatSignal(*reversed(element)) if taps > 1 else element[0]
    all_operands = ConcatSignal(*reversed(operand)) if n_cu > 1 else operand[0]

    decoders = [
        *(
            row_scale(clk, word=words((j + 1) * width, j * width), scale=scale[j])
            for j in range(count)
        ),
        *(
            decoded_activation(clk, late_words((j + 1) * width, j * width), element[j], design)
            for j in range(taps)
        ),
        *(
            decoded_operand(
                late_words((taps + j + 1) * width, (taps + j) * width), operand[j], design
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
