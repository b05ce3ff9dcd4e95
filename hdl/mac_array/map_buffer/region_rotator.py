"""Rotate the words of a vector within groups whose size is chosen at run time.

Source: the RTL compiler's paper, section III.F: for load balancing, each region of the array has
its own map.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.base.either import either
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Word, entity


def _turned(x: Word, by: int, side: int, places: int, width: int) -> Any:
    """Wires: the words of ``x``, rotated by ``by`` places in every group of ``side`` words."""
    words = [x((n + 1) * width, n * width) for n in range(places)]
    sources = [n // side * side + (n + by) % side for n in range(places)]
    return ConcatSignal(*(words[source] for source in reversed(sources)))


@entity
def region_rotator(x: Word, shift: Word, level: Word, y: Word, places: int, width: int) -> Any:
    """Rotate words in groups: word j of a group of y is word (j + shift) mod 2^level of x's group.

    x      in   words, word 0 lowest; their number places is a power of two
    shift  in   rotation, below 2^level
    level  in   logarithm of the words in a group
    y      out  the words rotated

    Combinational: one stage per bit of shift. A stage has one multiplexer of a word for each group
    size that exceeds its rotation.
    """
    levels = places.bit_length() - 1
    small = bits(levels + 1)  # bit m: the groups have 2^m words
    stage, choices = x, []
    for j in range(levels):
        # From the largest group size to the smallest one that this stage rotates.
        turned = _turned(stage, 1 << j, places, places, width)
        for m in reversed(range(j + 1, levels)):
            chosen = bits(places * width)
            within = _turned(stage, 1 << j, 1 << m, places, width)
            choices.append(either(choice=small(m), one=within, other=turned, y=chosen))
            turned = chosen
        passed = bits(places * width) if j < levels - 1 else y
        choices.append(either(choice=shift(j), one=turned, other=stage, y=passed))
        stage = passed

    @always_comb
    def decode() -> None:
        small.next = 0
        for m in range(levels + 1):
            if level == m:
                small.next[m] = True

    return choices, decode
