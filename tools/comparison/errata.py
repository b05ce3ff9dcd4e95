"""Errata of the papers of the architectures that a comparison has."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from merp.models.comparison.compare import Comparison
from merp.models.traffic import published
from merp.tools.comparison.tables import NAME
from merp.tools.report.table import Column, Table


def errata_of(architecture: str) -> Sequence[published.Erratum]:
    """Printed values of an architecture's paper that its own definitions do not give."""
    if architecture == "cnn-merp":
        return published.ERRATA
    module = import_module(f"merp.models.comparison.{architecture.replace('-', '_')}_printed")
    found: Sequence[published.Erratum] = module.ERRATA
    return found


def errata_table(asked: Comparison) -> Table:
    """Return the errata of every paper whose architecture is compared."""
    return Table(
        id="errata",
        title="Errata of the papers",
        caption="What each paper prints, and what its own definitions give.",
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
            for each in errata_of(answer.architecture.name)
        ],
    )
