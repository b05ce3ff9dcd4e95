"""A text alternative of each chart of a comparison, for readers who cannot see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.tools.report.chart_ink import rows_of

Document = Mapping[str, Any]


def alternatives(document: Document) -> dict[str, str]:
    """Return a sentence for each chart of the document's sections."""
    wanted = [chart for section in document["sections"] for chart in section["charts"]]
    return {chart: _words(document, *_SHOWN[chart]) for chart in wanted}


_SHOWN = {
    "gops": ("speed", "gop_per_s", "useful operations a second", "Gop/s"),
    "phases": ("cycles", "fp", "cycles of an image by phase, of FP", "cycles"),
    "footings": ("traffic", "full", "traffic by count, on count all", "MB/GFlop"),
    "roofline": ("roofline", "gop_per_s", "throughput under each board's roof", "Gop/s"),
    "shares": ("resources", "dsp_share", "shares of each device, of its DSP", "%"),
}
"""Of each chart: its table, a column, and a description of the column."""


def _words(document: Document, table: str, key: str, what: str, unit: str) -> str:
    values = [
        f"{row['architecture']} {row[key]:,.3g}"
        for row in rows_of(document, table)
        if row.get(key) is not None
    ]
    return f"Chart of {what}, {unit}: {', '.join(values) or 'none is known'}."
