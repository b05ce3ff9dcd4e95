"""Meanings of the registers and counters of F-CNN's modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from merp.models.base.counters import Counter, meaning_of
from merp.models.base.register_table import RegisterTable
from merp.testbenches.top.described import Description


def described(
    table: RegisterTable[Any, Any], counters: Iterable[Counter], words: Iterable[str]
) -> Callable[[Mapping[str, Any]], Description]:
    """Return the description of a top from its parameters.

    Args:
        table: its registers.
        counters: its cycle counters.
        words: names of its word counters.
    """
    meanings = {each.name: each.meaning for each in counters}
    meanings |= {name: meaning_of(name) for name in words}

    def describe(parameters: Mapping[str, Any]) -> Description:
        return Description(table.settings(parameters["design"]), meanings)

    return describe
