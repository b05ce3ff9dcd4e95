"""Which rows of a long table a first screen shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, log10
from typing import Final, TypeVar

Item = TypeVar("Item")

ROWS: Final = 10
"""Rows of a first screen, which has 25 lines with its totals and notes."""


def dominant(weights: Sequence[float], most: int = ROWS) -> tuple[list[int], list[int]]:
    """Return the indexes of the rows to show, and those of the others, both in order.

    Args:
        weights: a number per row; the rows with the largest numbers are shown.
        most: rows to show. One more is shown if it would be the only other one.
    """
    if len(weights) <= most + 1:
        return list(range(len(weights))), []
    by_weight = sorted(range(len(weights)), key=lambda index: -weights[index])
    return sorted(by_weight[:most]), sorted(by_weight[most:])


def shortened(
    items: Sequence[tuple[str, Item]], weight: Callable[[Item], float], most: int = ROWS
) -> list[tuple[str, list[Item]]]:
    """Return the rows of a table, each with its items: a row each, and one for the others.

    Args:
        items: names of rows, each with its item.
        weight: number of an item; items with the largest numbers have a row each.
        most: as of ``dominant``.
    """
    shown, others = dominant([weight(item) for _, item in items], most)
    rows = [(items[index][0], [items[index][1]]) for index in shown]
    if others:
        rows.append((f"{len(others)} others", [items[index][1] for index in others]))
    return rows


def in_one_format(values: Sequence[float | None], digits: int) -> list[str]:
    """Return numbers of a column with the same number of decimals; a dash for None.

    Large columns have fewer decimals. The smallest number keeps two significant digits.

    Args:
        values: numbers, at least 0.
        digits: decimals of a column whose largest number has up to three digits before the point;
            0 for a column of counts.
    """
    known = [value for value in values if value]
    places = digits
    if known and digits:
        needed = 1 - floor(log10(min(known)))
        places = max(needed, digits - max(0, floor(log10(max(known))) - 2), 0)
    return ["-" if value is None else f"{value:,.{places}f}" for value in values]
