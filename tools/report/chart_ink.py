"""Colours and lettering of the charts: CSS variables in the page, plain colours in a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]

# Placeholder colours; each is replaced by CSS in the SVG.
INK, FAINT, GRID = "#010101", "#020202", "#030303"
SERIES = ("#0a0001", "#0a0002", "#0a0003", "#0a0004")
CSS = {INK: "currentColor", FAINT: "var(--faint)", GRID: "var(--grid)"} | {
    colour: f"var(--series-{index + 1})" for index, colour in enumerate(SERIES)
}
SIZE = 10  # of every letter: at full width a chart then has the letter size of the tables
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, searchable, in the page's font
    "svg.hashsalt": "merp",
    "font.family": "sans-serif",
    "font.size": SIZE,
    "axes.labelsize": SIZE,
    "xtick.labelsize": SIZE,
    "ytick.labelsize": SIZE,
    "legend.fontsize": SIZE,
    "legend.title_fontsize": SIZE,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}


def rows_of(document: Json, table: str) -> Sequence[Json]:
    """Return the rows of a table of the report, without its sums."""
    found = document["tables"][table]
    rows: Sequence[Json] = found["rows"][: len(found["rows"]) - found["totals"]]
    return rows
