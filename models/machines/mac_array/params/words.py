"""Widths of the numbers inside the MAC array; all are in two's complement."""

from __future__ import annotations

from typing import Final

from merp.models.machines.mac_array.params.design import MAX_PRODUCTS, WORD_BITS

PRODUCT_BITS: Final = 2 * WORD_BITS
"""Bits of a product of two words."""

BIAS_SUM_BITS: Final = WORD_BITS + (MAX_PRODUCTS - 1).bit_length()
"""Bits of a sum of fewer than ``MAX_PRODUCTS`` deltas."""

ROUNDED_BITS: Final = WORD_BITS + 2
"""Bits of a rounded number to which a word may be added before it is clipped to a word.

A number outside this range is outside the range of a word, too, after any word is added to it.
Therefore the number may be limited to this range before the addition. The clipped sum is the same.
"""

RANDOM_BITS: Final = 16
"""Random bits for each stochastic rounding."""

RANDOM_STATE_BITS: Final = 31
SEED_BITS: Final = RANDOM_STATE_BITS - 1


def lane_constant(lane: int) -> int:
    """Return a lane's constant; its XOR with the seed is the first state of the random bits.

    Bit 30 is set, and a seed has 30 bits. Therefore the state is never 0.
    """
    every = (1 << RANDOM_STATE_BITS) - 1
    return (lane + 1) * 0x2545F491 & every | 1 << SEED_BITS
