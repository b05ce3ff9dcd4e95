"""Advance a place in the ring of kept rows, without a division."""

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
    """Advance by a number of rows, given as (modulo k, div k modulo d), as the places are."""

    @always_comb
    def step() -> None:
        next_mod = intbv(0, min=0, max=4 * k + 4)
        next_ring = intbv(0, min=0, max=4 * d + 4)
        next_mod[:] = mod + mod_step
        next_ring[:] = ring + ring_step
        if next_mod >= k:
            next_mod[:] = next_mod - k
            next_ring[:] = next_ring + 1
        if next_ring >= d:
            next_ring[:] = next_ring - d
        mod_after.next = next_mod
        ring_after.next = next_ring

    return step
