"""The table of ``merp system``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from merp.models.fpga.resources import TITLES
from merp.tools.common.rows import Row
from merp.tools.common.table import console, say, table
from merp.tools.fpga.system.system_package import SystemPackage

NAMED: Final = 3
"""Layers of an engine that are named; more are counted."""


def print_system(found: SystemPackage) -> None:
    """Print the engines, and lines about bitstreams, movers, memory, lists and files."""
    answer = found.json()
    several = len(answer["bitstreams"]) > 1
    heads = ["engine", "phases", "layers", "passes", "inputs", "outputs"]
    rows = [_cells(row) for row in found]
    if several:
        heads = ["bitstream", *heads]
        rows = [[row["bitstream"], *cells] for row, cells in zip(found, rows, strict=True)]
    console().print(table(found.title, heads, rows, text_columns=3 + several))
    for line in _lines(answer):
        say(line)


def _cells(row: Row) -> list[str]:
    layers: Sequence[str] = row["layers"]
    named = ", ".join(layers) if len(layers) <= NAMED else f"{layers[0]} to {layers[-1]}"
    sides = [sum(name.startswith(side) for name in row["streams"]) for side in ("s_axis", "m_axis")]
    return [row["engine"], ", ".join(row["phases"]), named, f"{row['passes']:,}", *map(str, sides)]


def _estimate(resources: Mapping[str, float] | None, part: str) -> str:
    if resources is None:
        return f"none, so whether {part} has enough resources is not known"
    figures = ", ".join(f"{resources[kind]:,} {title}" for kind, title in TITLES.items())
    return f"{figures} of {part}"


def _lines(answer: Mapping[str, Any]) -> list[str]:
    several = len(answer["bitstreams"]) > 1
    memory, lines = answer["memory"], []
    for each in answer["bitstreams"]:
        own = [row for row in answer["movers"] if row["bitstream"] == each["bitstream"]]
        ways = [row["direction"] for row in own]
        of = f"{each['bitstream']} " if several else ""
        lines.append(
            f"{of}movers: {ways.count('read')} read, {ways.count('write')} write, on a port of "
            f"{each['port']['data_bits']} bits"
        )
        lines.append(f"{of}estimate: {_estimate(each['resources'], answer['part'])}")
    lines.append(
        f"memory: {memory['arrays']:,} bytes of arrays, {memory['lists']:,} of lists and records"
    )
    for row in answer["lists"]:
        many = "" if row["passes"] == 1 else "es"
        on = f" on {row['bitstream']}" if several else ""
        lines.append(
            f"list {row['name']}{on}: {row['passes']:,} pass{many}, {row['words']:,} words at "
            f"{row['address']:#x}"
        )
    return [*lines, f"{len(answer['files']):,} files in {answer['directory']}"]
