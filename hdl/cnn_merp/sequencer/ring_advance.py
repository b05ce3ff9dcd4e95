"""A step of a place in the ring of kept rows, without a division."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block, intbv

from merp.hdl.conversion.entity import Word


@block
def ring_advance(
    mod: Word,
    ring: Word,
    mod_step: Word,
    ring_step: Word,
    mod_after: Word,
    ring_after: Word,
    k: int,
    d: int,
) -> Any:
    """Go on by a number of rows, given as (modulo k, div k modulo d), like the places."""

    @always_comb
    def step() -> None:
        place = intbv(0, min=0, max=4 * k + 4)
        turn = intbv(0, min=0, max=4 * d + 4)
        place[:] = mod + mod_step
        turn[:] = ring + ring_step
        if place >= k:
            place[:] = place - k
            turn[:] = turn + 1
        if turn >= d:
            turn[:] = turn - d
        mod_after.next = place
        ring_after.next = turn

    return step
