"""Multiply deltas by the derivative of ReLU, which is one or zero."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.mac_array.params.design import WORD_BITS


@block
def _scale(word: Word, passes: Bit, scaled: Word) -> Any:
    @always_comb
    def choose() -> None:
        scaled.next = 0
        if passes:
            scaled.next = word

    return choose


@entity
def scaling(atom: Word, mask: Word, scaled: Word) -> Any:
    """Keep the words of an atom whose mask bit is set; replace the others by zero.

    atom    in   words, column 0 lowest
    mask    in   a bit of each column
    scaled  out  the words, or zero

    Latency: combinational. Reset: none.
    """
    columns = len(mask)
    words = [bits(WORD_BITS) for _ in range(columns)]
    each = [
        _scale(
            word=atom((j + 1) * WORD_BITS, j * WORD_BITS),
            passes=mask(j),
            scaled=words[j],
        )
        for j in range(columns)
    ]
    joined = ConcatSignal(*reversed(words))

    @always_comb
    def hand_out() -> None:
        scaled.next = joined

    return each, hand_out
