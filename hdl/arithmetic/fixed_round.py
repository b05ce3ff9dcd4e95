"""Shift, round and clip a fixed-point number.

Rounding is to nearest, ties to even. Stochastic rounding is available, too: it adds random bits
below the lowest bit of the result.
"""

from __future__ import annotations

from typing import Any

from myhdl import always, block, concat, intbv

from merp.hdl.base.signals import bits, flag, signed
from merp.hdl.conversion.entity import Bit, Word, entity

FINE = 15
"""The largest shift of stage 2; stage 1 shifts by multiples of 16."""


@block
def _nearest(clk: Bit, moved: Word, lost: Bit, rounded: Word, below: int) -> Any:
    """Round to nearest, ties to even, and clip; ``below`` fraction bits remain, more were lost."""
    size = len(rounded)
    reach = len(moved) - below + 1
    most = (1 << size - 1) - 1

    @always(clk.posedge)
    def finish() -> None:
        whole = intbv(0, min=-(1 << reach - 1), max=1 << reach - 1)
        whole[:] = moved >> below
        if moved[below - 1] and (lost or moved[below - 1 :] != 0 or moved[below]):
            whole[:] = whole + 1
        if whole > most:
            whole[:] = most
        elif whole < -most - 1:
            whole[:] = -most - 1
        rounded.next = whole[size:]

    return finish


@block
def _either(
    clk: Bit,
    moved: Word,
    lost: Bit,
    rounded: Word,
    below: int,
    stochastic: Bit,
    random: Word,
) -> Any:
    """Round as above, or add random bits as wide as the fraction and cut the fraction off."""
    size = len(rounded)
    reach = len(moved) - below + 1
    most = (1 << size - 1) - 1

    @always(clk.posedge)
    def finish() -> None:
        whole = intbv(0, min=-(1 << reach - 1), max=1 << reach - 1)
        carried = intbv(0)[below + 1 :]
        whole[:] = moved >> below
        carried[:] = moved[below:]
        carried[:] = carried + random
        if stochastic:
            if carried[below]:
                whole[:] = whole + 1
        elif moved[below - 1] and (lost or moved[below - 1 :] != 0 or moved[below]):
            whole[:] = whole + 1
        if whole > most:
            whole[:] = most
        elif whole < -most - 1:
            whole[:] = -most - 1
        rounded.next = whole[size:]

    return finish


@entity
def fixed_round(
    clk: Bit,
    value: Word,
    shift: Word,
    rounded: Word,
    left: int,
    stochastic: Bit = None,
    random: Word = None,
) -> Any:
    """Multiply a number by a power of two, round it and clip it.

    value       in   a number in two's complement
    shift       in   with value: n + left, for a multiplication by 2^-n; at most 47
    rounded     out  the result in two's complement, clipped to its width
    stochastic  in   (optional) two cycles after value: round stochastically, else to nearest, ties
                     to even
    random      in   (optional, with stochastic) two cycles after value: 16 bits that are added
                     below the lowest bit

    Stage 1 shifts by multiples of 16, and clips to the range that can still lead to an unclipped
    result. Stage 2 shifts by the rest, stage 3 rounds and clips. Latency: 3. Throughput: one per
    cycle. Reset: none.
    """
    below = 2 if random is None else len(random)
    size, all_bits = len(rounded), len(value) + left + below
    # A number clipped to this width is clipped to the width of the result by any shift of stage 2.
    kept = min(all_bits, size + FINE + below)
    lowest, highest = -(1 << kept - 1), (1 << kept - 1) - 1
    high, moved = signed(kept), signed(kept)
    fine = bits(4)
    lost_high, lost = flag(), flag()

    @always(clk.posedge)
    def shift_far() -> None:
        distance = intbv(0)[6:]
        wide = intbv(0)[all_bits:]
        far = intbv(0, min=-(1 << all_bits - 1), max=1 << all_bits - 1)
        held = intbv(0, min=-(1 << kept - 1), max=1 << kept - 1)
        distance[:] = shift
        wide[:] = concat(value, intbv(0)[left + below :])
        far[:] = wide.signed()
        lost_high.next = False
        if distance[5]:
            if far[32:] != 0:
                lost_high.next = True
            far[:] = far >> 32
        if distance[4]:
            if far[16:] != 0:
                lost_high.next = True
            far[:] = far >> 16
        held[:] = far[kept:].signed()
        if held != far:
            if far < 0:
                held[:] = lowest
            else:
                held[:] = highest
        high.next = held
        fine.next = distance[4:]

    @always(clk.posedge)
    def shift_near() -> None:
        near = intbv(0, min=-(1 << kept - 1), max=1 << kept - 1)
        missed = intbv(0)[1:]
        near[:] = high
        if lost_high:
            missed[:] = 1
        if fine[3]:
            if near[8:] != 0:
                missed[:] = 1
            near[:] = near >> 8
        if fine[2]:
            if near[4:] != 0:
                missed[:] = 1
            near[:] = near >> 4
        if fine[1]:
            if near[2:] != 0:
                missed[:] = 1
            near[:] = near >> 2
        if fine[0]:
            if near[0]:
                missed[:] = 1
            near[:] = near >> 1
        moved.next = near
        lost.next = missed != 0

    if random is None:
        finish = _nearest(clk, moved=moved, lost=lost, rounded=rounded, below=below)
    else:
        finish = _either(
            clk,
            moved=moved,
            lost=lost,
            rounded=rounded,
            below=below,
            stochastic=stochastic,
            random=random,
        )
    return shift_far, shift_near, finish
