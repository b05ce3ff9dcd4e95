"""``row_operands`` for narrow factors, which are rounded in front of both passes."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.narrow_activation import narrow_activation
from merp.hdl.fused.narrow_operand import narrow_operand
from merp.models.base.fused import EXPONENT_BITS, activation_bits, operand_bits
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.row import SCALE


@entity
def narrow_row_operands(
    clk: Bit,
    words: Word,
    late_words: Word,
    scales: Word,
    exponents: Word,
    activations: Word,
    deltas: Word,
    design: EngineDesign,
) -> Any:
    """Round and decode the words of a slot as they arrive, and again a row later.

    words        in   deltas of all CUs above a window, CU 0 and tap 0 lowest
    scales       out  one for each word, SCALE cycles later, in the format of row_scale
    late_words   in   the same words, for the mantissa pass
    exponents    out  one for each word, SCALE cycles later, below its sign
    activations  out  the elements of the window: exponents and flags after one cycle, significands
                      after two
    deltas       out  operands, a cycle later

    Throughput: a slot per cycle. Reset: none.
    """
    taps, n_cu, width = design.taps, design.n_cu, design.fmt.width
    count, significand = taps + n_cu, design.operand_precision
    whole, sign_at = activation_bits(1, significand), operand_bits(significand) - 1
    # Rounding is too slow for the cycle in which the words arrive.
    held = bits(len(words))
    decoded = [bits(whole) for _ in range(count)]
    element = [bits(whole) for _ in range(taps)]
    operand = [bits(sign_at + 1) for _ in range(n_cu)]
    # | negative | infinite | zero | exponent |
    all_scales = ConcatSignal(
        *(
            part
            for each in reversed(decoded)
            for part in (
                each(sign_at),
                each(sign_at + 3, sign_at + 1),
                each(EXPONENT_BITS, 0),
            )
        )
    )
    of_elements = ConcatSignal(
        *(x for each in reversed(element) for x in (each(sign_at), each(EXPONENT_BITS, 0)))
    )
    of_operands = ConcatSignal(
        *(x for each in reversed(operand) for x in (each(sign_at), each(EXPONENT_BITS, 0)))
    )
    late_elements, late_operands = bits(len(of_elements)), bits(len(of_operands))
    all_exponents = ConcatSignal(late_operands, late_elements)
    all_elements = ConcatSignal(*reversed(element)) if taps > 1 else element[0]
    all_operands = ConcatSignal(*reversed(operand)) if n_cu > 1 else operand[0]

    decoders = [
        *(
            narrow_activation(
                clk,
                word=held((j + 1) * width, j * width),
                activation=decoded[j],
                significand=significand,
            )
            for j in range(count)
        ),
        *(
            narrow_activation(
                clk,
                word=late_words((j + 1) * width, j * width),
                activation=element[j],
                significand=significand,
            )
            for j in range(taps)
        ),
        *(
            narrow_operand(
                word=late_words((taps + j + 1) * width, (taps + j) * width),
                operand=operand[j],
                significand=significand,
            )
            for j in range(n_cu)
        ),
    ]

    @always_comb
    def join() -> None:
        activations.next = all_elements
        exponents.next = all_exponents

    waits = [
        delay(clk, d=words, q=held, cycles=1),
        delay(clk, d=all_scales, q=scales, cycles=SCALE - 2),
        delay(clk, d=of_elements, q=late_elements, cycles=SCALE - 1),
        delay(clk, d=of_operands, q=late_operands, cycles=SCALE),
        delay(clk, d=all_operands, q=deltas, cycles=1),
    ]
    return decoders, join, waits
