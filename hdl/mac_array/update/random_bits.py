"""Random bits for stochastic rounding: a feedback shift register for each lane.

The polynomial is x^31 + x^3 + 1, with sixteen steps per cycle: each new bit is the XOR of two bits
of the register.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, concat, intbv

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.mac_array.params.words import (
    RANDOM_BITS,
    RANDOM_STATE_BITS,
    lane_constant,
)

TAPS = 15, 12
"""Lowest bit positions of the two words of the register whose XOR is drawn."""


@block
def _register(clk: Bit, start: Bit, advance: Bit, seed: Word, drawn: Word, constant: int) -> Any:
    """The register of one lane; the lowest bits are the latest ones."""
    state, fresh = bits(RANDOM_STATE_BITS), bits(RANDOM_BITS)
    kept = RANDOM_STATE_BITS - RANDOM_BITS
    high, low = TAPS

    @always_comb
    def draw() -> None:
        fresh.next = state[high + RANDOM_BITS : high] ^ state[low + RANDOM_BITS : low]
        drawn.next = state[RANDOM_BITS:]

    @always(clk.posedge)
    def step() -> None:
        begun = intbv(0)[RANDOM_STATE_BITS:]
        begun[:] = seed
        if advance:
            state.next = concat(state[kept:], fresh)
        if start:
            state.next = begun ^ constant

    return draw, step


@entity
def random_bits(clk: Bit, start: Bit, advance: Bit, seed: Word, drawn: Word) -> Any:
    """Draw sixteen random bits for each lane.

    start    in   begin with the seed
    seed     in   seed of the pass
    advance  in   the bits have been used
    drawn    out  16 bits per lane, lane 0 lowest; valid from the cycle after advance, and from the
                  second cycle after start

    Throughput: a draw per cycle. Reset: none, begin with start.
    """
    lanes = len(drawn) // RANDOM_BITS
    begun, draws = flag(), flag()
    each = [bits(RANDOM_BITS) for _ in range(lanes)]
    registers = [
        _register(clk, start, advance=draws, seed=seed, drawn=each[b], constant=lane_constant(b))
        for b in range(lanes)
    ]
    joined = ConcatSignal(*reversed(each))

    @always_comb
    def go_on() -> None:
        draws.next = advance or begun

    @always_comb
    def hand_out() -> None:
        drawn.next = joined

    return registers, delay(clk, d=start, q=begun, cycles=1), go_on, hand_out
