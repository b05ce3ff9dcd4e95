"""A table of a comparison on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from merp.models.comparison.compare import Comparison
from merp.tools.common.table import console, say, table
from merp.tools.comparison.errata import errata_table
from merp.tools.comparison.tables import (
    MARKS,
    legend,
    overview,
    published_tables,
    step,
    summaries,
)
from merp.tools.report.table import Column, Table


def show_all(
    asked: Comparison,
    hardware: Sequence[Table] = (),
    *,
    details: bool = False,
    errata: bool = False,
) -> None:
    """Print a comparison: its subject, its tables and the marks of evidence.

    Args:
        asked: the comparison.
        hardware: tables of measured figures.
        details: print all tables, not only the overview.
        errata: print the papers' errata, and their numbers that do not reproduce.
    """
    say(step(asked))
    for each in (*(summaries(asked) if details else [overview(asked)]), *hardware):
        show(each)
    if errata:
        show(errata_table(asked))
        show(published_tables(asked)[0])  # numbers that do not reproduce
    say(legend())
    if not details:
        say("--details: cycles, traffic by count and phase, resources, omissions of each model.")


def show(found: Table, keys: int = 1) -> None:
    """Print a table if it has rows; ``keys`` columns name a row. Text columns are first."""
    if not found.rows:
        return
    columns = sorted(found.columns, key=lambda column: column.digits is not None)
    heads = [f"{each.label}, {each.unit}" if each.unit else each.label for each in columns]
    console().print(
        table(
            found.title,
            heads,
            [[_cell(column, row) for column in columns] for row in found.rows],
            text_columns=sum(column.digits is None for column in columns),
            keys=keys,
            caption=found.caption,
        )
    )


def _cell(column: Column, row: Mapping[str, Any]) -> str:
    text = column.cell(row)
    level = None if column.basis is None else row.get(column.basis)
    return text if level is None else f"{text} {MARKS[level]}"
