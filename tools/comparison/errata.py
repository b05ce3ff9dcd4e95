"""Errata of the papers of the compared architectures."""

from __future__ import annotations

from merp.models.comparison.compare import Comparison
from merp.models.comparison.published import errata
from merp.tools.comparison.tables import NAME
from merp.tools.report.table import Column, Table


def errata_table(asked: Comparison) -> Table:
    """Return the errata of every paper whose architecture is compared."""
    return Table(
        id="errata",
        title="Errata of the papers",
        caption="Values that each paper prints, and values by its own definitions.",
        columns=[
            NAME,
            Column(key="where", label="where"),
            Column(key="printed", label="printed"),
            Column(key="found", label="by its own definitions"),
            Column(key="why", label="why"),
        ],
        rows=[
            {
                "architecture": answer.architecture.name,
                "where": each.where,
                "printed": each.printed,
                "found": each.found,
                "why": each.why,
            }
            for answer in asked.answers
            for each in errata(answer.architecture.name)
        ],
    )
