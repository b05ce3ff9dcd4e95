"""Golden model of the warm boot through ICAPE2: its words, and the pins of each cycle.

Source: UG470, "7 Series FPGAs Configuration", "IPROG Using ICAPE2" (example bitstream) and
"Parallel Bus Bit Order".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

WORD = 32
BYTE = 8
PERIOD = 2
"""Cycles of the clock of ICAPE2."""


class IcapState(NamedTuple):
    """The pins of ICAPE2 in a cycle."""

    clk: int
    csib: int
    rdwrb: int
    i: int


class LoadInputs(NamedTuple):
    """The inputs of a loader in a cycle."""

    begin: int
    idle: int
    rst: int
    address: int


def warm_boot(address: int) -> list[int]:
    """Return the words of a warm boot from a start address, as UG470 prints them."""
    return [
        0xFFFFFFFF,  # dummy word
        0xAA995566,  # synchronization word
        0x20000000,  # type 1, no operation
        0x30020001,  # type 1, write one word to WBSTAR
        address,
        0x30008001,  # type 1, write one word to CMD
        0x0000000F,  # IPROG
        0x20000000,  # type 1, no operation
    ]


def swapped(word: int) -> int:
    """Return a word as its bits are on the pins: swapped within each byte."""
    digits = f"{word:0{WORD}b}"
    parts = (digits[at : at + BYTE] for at in range(0, WORD, BYTE))
    return int("".join(part[::-1] for part in parts), 2)


def begins(inputs: Sequence[LoadInputs]) -> list[int]:
    """Return the cycle of each load in which its RDWRB is first low.

    The clock of ICAPE2 is low in even cycles, and cycle 0 is the first one. A load begins in the
    first such cycle before which it waited and memory was idle.
    """
    found: list[int] = []
    free, waiting = 0, False  # the cycle from which on a load may be requested
    for cycle, now in enumerate(inputs):
        start = cycle + 1
        if waiting and now.idle and not now.rst and start % PERIOD == 0:
            found.append(start)
            waiting = False
            free = start + (len(warm_boot(0)) + 1) * PERIOD
        elif now.begin and not waiting and cycle >= free:
            waiting = True
        if now.rst:
            waiting = False
    return found


def pins(inputs: Sequence[LoadInputs]) -> list[IcapState]:
    """Return the pins in each cycle; ``i`` keeps its last word while nothing is selected."""
    size = len(inputs)
    csib, rdwrb, data = [1] * size, [1] * size, [0] * size
    for begin in begins(inputs):
        words = warm_boot(inputs[begin - 1].address)
        first = begin + PERIOD
        last = first + PERIOD * len(words)
        rdwrb[begin : last + PERIOD] = [0] * len(rdwrb[begin : last + PERIOD])
        csib[first:last] = [0] * len(csib[first:last])
        for at, word in enumerate(words):
            place = first + PERIOD * at
            data[place:] = [swapped(word)] * len(data[place:])
    clocks = [cycle % PERIOD for cycle in range(size)]
    return [IcapState(*each) for each in zip(clocks, csib, rdwrb, data, strict=True)]
