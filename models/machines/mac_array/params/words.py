"""Widths of numbers on their way through the MAC array, all in two's complement."""

from __future__ import annotations

from typing import Final

from merp.models.machines.mac_array.params.design import MAX_PRODUCTS, WORD_BITS

PRODUCT_BITS: Final = 2 * WORD_BITS
"""Of a product of two words."""

BIAS_SUM_BITS: Final = WORD_BITS + (MAX_PRODUCTS - 1).bit_length()
"""Of a sum of deltas, of which there are fewer than ``MAX_PRODUCTS``."""

ROUNDED_BITS: Final = WORD_BITS + 2
"""Of a rounded number to which a word may be added before it is clipped.

What leaves this range leaves that of a word too, whichever word is added to it: so a number may be
held within it before the addition, and is still clipped once.
"""

RANDOM_BITS: Final = 16
"""Of a draw of stochastic rounding."""

RANDOM_STATE_BITS: Final = 31
SEED_BITS: Final = RANDOM_STATE_BITS - 1


def lane_constant(lane: int) -> int:
    """What a lane's random bits begin with, together with the seed; never the seed itself."""
    every = (1 << RANDOM_STATE_BITS) - 1
    return (lane + 1) * 0x2545F491 & every | 1 << SEED_BITS
