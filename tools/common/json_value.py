"""Checks of the values of a JSON file that a verb wrote and that may have been edited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from merp.models.base.names import is_name

MOST = 1e300  # sums and quotients of a few such numbers stay finite


def is_whole(value: Any, least: int = 0) -> bool:
    """Return whether it is a whole number from ``least`` that fits 64 bits."""
    return type(value) is int and least <= value < 1 << 63


def is_number(value: Any) -> bool:
    """Return whether it is a number that pictures and quotients can use."""
    return type(value) in (int, float) and abs(value) < MOST


def is_text(value: Any) -> bool:
    """Return whether it is a text that can be shown without escapes."""
    return isinstance(value, str) and is_name(value)


def is_list(value: Any, of: Callable[[Any], bool]) -> bool:
    """Return whether it is a list whose elements all satisfy ``of``."""
    return isinstance(value, list) and all(map(of, value))


def is_table(value: Any, of: Callable[[Any], bool]) -> bool:
    """Return whether it is an object whose keys are names and whose values all satisfy ``of``."""
    return isinstance(value, dict) and all(map(is_text, value)) and all(map(of, value.values()))
