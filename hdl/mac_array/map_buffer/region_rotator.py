"""Rotation of the words of a vector within groups, whose size is chosen at run time.

The RTL compiler's paper, section III.F: load balancing gives regions of the array their own maps.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb

from merp.hdl.base.either import either
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Word, entity


def _turned(x: Word, by: int, side: int, places: int, width: int) -> Any:
    """Wires: the words of ``x``, in every group of ``side`` rotated by ``by`` places."""
    words = [x((n + 1) * width, n * width) for n in range(places)]
    sources = [n // side * side + (n + by) % side for n in range(places)]
    return ConcatSignal(*(words[source] for source in reversed(sources)))


@entity
def region_rotator(x: Word, shift: Word, level: Word, y: Word, places: int, width: int) -> Any:
    """Rotate words in groups: word j of a group of y is word (j + shift) mod 2^level of that of x.

    x      in   words, word 0 lowest; their number places is a power of two
    shift  in   below 2^level
    level  in   logarithm of the words in a group
    y      out  the words rotated

    Combinational: a stage for each bit of shift, with a multiplexer of a word for each size of a
    group that is above the stage's turn.
    """
    levels = places.bit_length() - 1
    small = bits(levels + 1)  # bit m: groups of 2^m
    stage, choices = x, []
    for j in range(levels):
        # From the largest groups to the smallest that this stage turns in.
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
