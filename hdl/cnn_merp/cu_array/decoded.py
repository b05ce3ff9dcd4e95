"""Which decoders the factors of a design's fused units take, and their rounding before that."""

from __future__ import annotations

from typing import Any

from merp.hdl.arithmetic.fp_convert import fp_convert
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fused.fused_activation import fused_activation
from merp.hdl.fused.fused_operand import fused_operand
from merp.hdl.fused.narrow_activation import narrow_activation
from merp.hdl.fused.narrow_operand import narrow_operand
from merp.models.params.cnn_merp.design import Design


def decoded_activation(clk: Bit, word: Word, activation: Word, design: Design) -> Any:
    """Decode an activation that is a factor already."""
    if design.summation.narrow:
        significand = design.operand_precision
        return narrow_activation(clk, word=word, activation=activation, significand=significand)
    return fused_activation(clk, word=word, activation=activation, dsp=design.fused_dsp)


def decoded_operand(word: Word, operand: Word, design: Design) -> Any:
    """Decode an element of a kernel, or a delta, that is a factor already."""
    if design.summation.narrow:
        return narrow_operand(word=word, operand=operand, significand=design.operand_precision)
    return fused_operand(word=word, operand=operand)


def rounded_factor(word: Word, factor: Word, design: Design) -> Any:
    """Round an element to a narrow factor."""
    return fp_convert(None, a=word, y=factor, fmt=design.fmt, target=design.factor_format)


@entity
def rounded_activation(clk: Bit, word: Word, activation: Word, design: Design) -> Any:
    """Round an element of the window to a narrow factor, and decode it.

    word        in   binary32
    activation  out  as narrow_activation gives it

    Latency: 1, of the significand 2. Throughput: one per cycle. Reset: none.
    """
    factor = bits(design.factor_format.width)
    return (
        rounded_factor(word, factor, design),
        decoded_activation(clk, factor, activation, design),
    )


@entity
def rounded_operand(word: Word, operand: Word, design: Design) -> Any:
    """Round an element of a kernel to a narrow factor, and decode it.

    word     in   binary32
    operand  out  as narrow_operand gives it

    Combinational.
    """
    factor = bits(design.factor_format.width)
    return rounded_factor(word, factor, design), decoded_operand(factor, operand, design)


def activation_of(clk: Bit, word: Word, activation: Word, design: Design) -> Any:
    """Round, where factors are narrow, and decode an element of the window."""
    if design.summation.narrow:
        return rounded_activation(clk, word=word, activation=activation, design=design)
    return decoded_activation(clk, word, activation, design)


def operand_of(word: Word, operand: Word, design: Design) -> Any:
    """Round, where factors are narrow, and decode an element of a kernel."""
    if design.summation.narrow:
        return rounded_operand(word=word, operand=operand, design=design)
    return decoded_operand(word, operand, design)
