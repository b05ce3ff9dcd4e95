"""Random bits of stochastic rounding: a feedback shift register to each lane.

x^31 + x^3 + 1, sixteen steps at once: each new bit is the XOR of two of the register.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, concat, intbv

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.params.mac_array.words import RANDOM_BITS, RANDOM_STATE_BITS, lane_constant

TAPS = 15, 12
"""Places below those of the register whose XOR is drawn."""


@block
def _register(clk: Bit, start: Bit, advance: Bit, seed: Word, drawn: Word, constant: int) -> Any:
    """The register of one lane."""
    state = bits(RANDOM_STATE_BITS)
    kept = RANDOM_STATE_BITS - RANDOM_BITS
    high, low = TAPS

    @always_comb
    def draw() -> None:
        drawn.next = state[high + RANDOM_BITS : high] ^ state[low + RANDOM_BITS : low]

    @always(clk.posedge)
    def step() -> None:
        begun = intbv(0)[RANDOM_STATE_BITS:]
        begun[:] = seed
        if advance:
            state.next = concat(state[kept:], drawn)
        if start:
            state.next = begun ^ constant

    return draw, step


@entity
def random_bits(clk: Bit, start: Bit, advance: Bit, seed: Word, drawn: Word) -> Any:
    """Draw sixteen random bits for each lane.

    start    in   begin with the seed
    seed     in   of a pass
    advance  in   the bits have been used
    drawn    out  16 bits of each lane, lane 0 lowest, from the cycle behind start or advance on

    Throughput: a draw per cycle. Reset: none, begin with start.
    """
    lanes = len(drawn) // RANDOM_BITS
    each = [bits(RANDOM_BITS) for _ in range(lanes)]
    registers = [
        _register(clk, start, advance, seed=seed, drawn=each[b], constant=lane_constant(b))
        for b in range(lanes)
    ]
    joined = ConcatSignal(*reversed(each))

    @always_comb
    def hand_out() -> None:
        drawn.next = joined

    return registers, hand_out
