"""Fields of designs that are whole numbers within a range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def check_ranges(design: Any, ranges: Mapping[str, tuple[int, int]]) -> None:
    """Check fields of a design against their least and largest values.

    Raises:
        ValueError: a field is not a whole number, or out of range; the message gives it and the
            range.
    """
    for key, (low, high) in ranges.items():
        value = getattr(design, key)
        if type(value) is not int or not low <= value <= high:  # a bool is not a number here
            raise ValueError(f"{key} must be a whole number from {low} to {high}, not {value}")
