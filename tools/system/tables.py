"""The table of ``merp system``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from merp.tools.common.rows import Row
from merp.tools.common.table import console, say, table
from merp.tools.system.system_package import SystemPackage

NAMED: Final = 3
"""Layers of an engine that are named; more are counted."""


def print_system(found: SystemPackage) -> None:
    """Print the engines, and lines about movers, memory, lists and files."""
    answer = found.json()
    heads = ["engine", "phases", "layers", "passes", "inputs", "outputs"]
    rows = [_cells(row) for row in found]
    console().print(table(found.title, heads, rows, text_columns=3))
    for line in _lines(answer):
        say(line)


def _cells(row: Row) -> list[str]:
    layers: Sequence[str] = row["layers"]
    named = ", ".join(layers) if len(layers) <= NAMED else f"{layers[0]} to {layers[-1]}"
    sides = [sum(name.startswith(side) for name in row["streams"]) for side in ("s_axis", "m_axis")]
    return [row["engine"], ", ".join(row["phases"]), named, f"{row['passes']:,}", *map(str, sides)]


def _lines(answer: Mapping[str, Any]) -> list[str]:
    ways = [each["direction"] for each in answer["movers"]]
    memory, port = answer["memory"], answer["port"]
    lines = [
        f"movers: {ways.count('read')} read, {ways.count('write')} write, on a port of "
        f"{port['data_bits']} bits",
        f"memory: {memory['arrays']:,} bytes of arrays, {memory['lists']:,} of lists and records",
    ]
    for each in answer["lists"]:
        many = "" if each["passes"] == 1 else "es"
        lines.append(
            f"list {each['name']}: {each['passes']:,} pass{many}, {each['words']:,} words at "
            f"{each['address']:#x}"
        )
    return [*lines, f"{len(answer['files']):,} files in {answer['directory']}"]
