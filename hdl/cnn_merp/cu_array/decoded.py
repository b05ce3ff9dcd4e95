"""Select the decoders for the factors of the fused units of a design."""

from __future__ import annotations

from typing import Any

from merp.hdl.conversion.entity import Bit, Word
from merp.hdl.fused.fused_activation import fused_activation
from merp.hdl.fused.fused_operand import fused_operand
from merp.hdl.fused.narrow_activation import narrow_activation
from merp.hdl.fused.narrow_operand import narrow_operand
from merp.models.machines.cnn_merp.params.design import EngineDesign


def activation_of(clk: Bit, word: Word, activation: Word, design: EngineDesign) -> Any:
    """Decode an element of the window."""
    if design.summation.narrow:
        significand = design.operand_precision
        return narrow_activation(clk, word=word, activation=activation, significand=significand)
    return fused_activation(clk, word=word, activation=activation, dsp=design.fused_dsp)


def operand_of(word: Word, operand: Word, design: EngineDesign) -> Any:
    """Decode an element of a kernel."""
    if design.summation.narrow:
        return narrow_operand(word=word, operand=operand, significand=design.operand_precision)
    return fused_operand(word=word, operand=operand)
