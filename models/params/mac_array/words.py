"""Widths of numbers on their way through the MAC array, all in two's complement."""

from __future__ import annotations

from typing import Final

from merp.models.params.mac_array.design import MAX_PRODUCTS, WORD_BITS

PRODUCT_BITS: Final = 2 * WORD_BITS
"""Of a product of two words."""

BIAS_SUM_BITS: Final = WORD_BITS + (MAX_PRODUCTS - 1).bit_length()
"""Of a sum of deltas, of which there are fewer than ``MAX_PRODUCTS``."""

ROUNDED_BITS: Final = WORD_BITS + 2
"""Of a rounded number to which a word may be added before it is clipped.

What leaves this range leaves that of a word too, whichever word is added to it: so a number may be
held within it before the addition, and is still clipped once.
"""
