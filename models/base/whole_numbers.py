"""Fields of designs that are whole numbers within a range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def check_ranges(design: Any, ranges: Mapping[str, tuple[int, int]]) -> None:
    """Check fields of a design, each against its least and largest value.

    Raises:
        ValueError: one is no whole number, or out of range; the message names it and the range.
    """
    for key, (low, high) in ranges.items():
        value = getattr(design, key)
        if type(value) is not int or not low <= value <= high:  # a bool is no number here
            raise ValueError(f"{key} must be a whole number from {low} to {high}, not {value}")
