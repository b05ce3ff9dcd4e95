"""The first screen of a plan: a row per layer, all phases together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from merp.tools.common.shortened import in_one_format, shortened
from merp.tools.common.table import Sheet, table


def by_layer(title: str, rows: Iterable[Mapping[str, Any]], caption: str) -> Sheet:
    """Return a table of the layers that take the most time, and of all layers.

    Args:
        title: above the table.
        rows: a row for each layer and phase, as ``Planned.answer`` has them under ``layers``.
        caption: below the table.
    """
    layers: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        layers.setdefault(row["name"], []).append(row)
    shown = shortened(list(layers.items()), lambda some: sum(row["seconds"] for row in some))
    if len(shown) < len(layers):
        caption += " Layers with the most time."
    shown.append(("all layers", list(layers.values())))
    lines = [(name, list(chain.from_iterable(some))) for name, some in shown]

    def column(key: str, unit: float, digits: int) -> list[str]:
        return in_one_format([sum(row[key] for row in some) / unit for _, some in lines], digits)

    per_operation = [
        sum(row["bytes"] for row in some) / sum(row["operations"] for row in some) * 1e3
        for _, some in lines
    ]
    cells = zip(
        [name for name, _ in lines],
        [_bound(some) for _, some in lines],
        column("passes", 1, 0),
        column("bytes", 1e6, 1),
        in_one_format(per_operation, 2),
        column("cycles", 1e6, 2),
        column("seconds", 1, 3),
        strict=True,
    )
    columns = ["layer", "bound by", "passes", "MB", "MB/GFlop", "Mcycles", "seconds"]
    return table(title, columns, cells, text_columns=2, totals=1, caption=caption)


def _bound(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the resource that limits the speed for the longest time."""
    seconds: dict[str, float] = {}
    for row in rows:
        seconds[row["binds"]] = seconds.get(row["binds"], 0.0) + row["seconds"]
    return max(seconds, key=lambda name: seconds[name])
