"""The first screen of a plan: a row per layer, all phases together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from merp.tools.common.shortened import ROWS, dominant, in_one_format
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
    seconds = [sum(row["seconds"] for row in some) for some in layers.values()]
    shown, others = dominant(seconds, ROWS)
    names = list(layers)
    lines = {names[index]: layers[names[index]] for index in shown}
    if others:
        lines[f"{len(others)} others"] = [row for index in others for row in layers[names[index]]]
        caption += " Layers with the most time."
    lines["all layers"] = [row for some in layers.values() for row in some]

    def column(key: str, unit: float, digits: int) -> list[str]:
        return in_one_format(
            [sum(row[key] for row in some) / unit for some in lines.values()], digits
        )

    per_operation = [
        sum(row["bytes"] for row in some) / sum(row["operations"] for row in some) * 1e3
        for some in lines.values()
    ]
    cells = zip(
        lines,
        [_bound(some) for some in lines.values()],
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
