"""What a value of a JSON file is that a verb left, and somebody may have changed since."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from merp.models.base.names import is_name

MOST = 1e300  # so that sums and quotients of a few stay finite


def is_whole(value: Any, least: int = 0) -> bool:
    """Whether it is a whole number from ``least`` that 64 bits hold."""
    return type(value) is int and least <= value < 1 << 63


def is_number(value: Any) -> bool:
    """Whether it is a number that pictures and quotients take."""
    return type(value) in (int, float) and abs(value) < MOST


def is_text(value: Any) -> bool:
    """Whether it is a text that stands anywhere as it is."""
    return isinstance(value, str) and is_name(value)


def is_list(value: Any, of: Callable[[Any], bool]) -> bool:
    """Whether it is a list, every element of which is right."""
    return isinstance(value, list) and all(map(of, value))


def is_table(value: Any, of: Callable[[Any], bool]) -> bool:
    """Whether it is an object with names for keys, every value of which is right."""
    return isinstance(value, dict) and all(map(is_text, value)) and all(map(of, value.values()))
