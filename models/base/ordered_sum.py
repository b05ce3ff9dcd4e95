"""A sum of floats that is the same to the last bit on every Python."""

from __future__ import annotations

from collections.abc import Iterable


def ordered_sum(terms: Iterable[float]) -> float:
    """Add each term to the sum of the terms before it, rounding each time; 0 without terms.

    From Python 3.12 on, ``sum`` compensates for rounding errors, so its last bit differs.
    """
    total: float = 0
    for term in terms:
        total += term
    return total
