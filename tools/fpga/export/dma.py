"""The capacity of a transfer of AMD's AXI DMA."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

LARGEST_TRANSFER = (1 << 26) - 1
"""Bytes: the length register has at most 26 bits (PG021, Width of Buffer Length Register)."""


def images_in_a_transfer(size: Callable[[int], int], most: int, least: int = 1) -> int | None:
    """Return the most images, up to ``most``, whose bytes fit in a transfer; None if all fit.

    Args:
        size: maps a number of images to bytes, and never decreases.
        most: the largest number of images.
        least: the smallest number; all others are multiples of it.
    """
    allowed = range(least, most + 1, least)
    found = bisect_right(allowed, LARGEST_TRANSFER, key=size)
    return None if found == len(allowed) else found * least
