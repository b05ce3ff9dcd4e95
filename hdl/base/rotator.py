"""Rotate the words of a vector in stages of powers of two."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block, concat

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity


@block
def _stage(x: Word, early: Word, rotated: Bit, y: Word, low: int) -> Any:
    """Select ``early``, rotated right by ``low`` bits, if ``rotated`` is high, else ``x``."""
    high = len(x)

    @always_comb
    def rotate() -> None:
        if rotated:
            y.next = concat(early[low:], early[high:low])
        else:
            y.next = x

    return rotate


@block
def _copy(x: Word, y: Word) -> Any:
    @always_comb
    def copy() -> None:
        y.next = x

    return copy


@entity
def rotator(x: Word, shift: Word, y: Word, places: int, width: int) -> Any:
    """Rotate ``places`` words of ``width`` bits: word j of y is word (j + shift) mod places of x.

    x      in   words, word 0 lowest
    shift  in   rotation in words, below places
    y      out  the words rotated

    The block is combinational: one 2:1 multiplexer per bit and stage, ceil(log2 places) stages. If
    the highest bit of shift allows only few other bits to be set, its stage rotates the output of
    an earlier stage. Example: with five places, the stage for 4 rotates x, so three stages need
    only two LUTs in series.
    """
    stages = (places - 1).bit_length()
    steps = [bits(places * width) for _ in range(stages)]
    inputs = [x, *steps[:-1]]
    # The bits of shift that can be set together with its highest bit.
    beside = (places - 1 - (1 << stages >> 1)).bit_length()
    earlier = [*inputs[:-1], inputs[min(beside, stages - 1)]] if stages else []
    rotations = [
        _stage(x=inputs[j], early=earlier[j], rotated=shift(j), y=steps[j], low=(1 << j) * width)
        for j in range(stages)
    ]
    return rotations, _copy(x=steps[-1] if stages else x, y=y)
