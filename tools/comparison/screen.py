"""A table of a comparison on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from merp.models.comparison.compare import Comparison
from merp.tools.common.table import console, say, table
from merp.tools.comparison.tables import MARKS, legend, step, summaries
from merp.tools.report.table import Column, Table


def show_all(asked: Comparison, hardware: Sequence[Table] = ()) -> None:
    """Print a comparison: what it is of, its tables, those of the hardware, what marks mean."""
    say(step(asked))
    for each in (*summaries(asked), *hardware):
        show(each)
    say(legend())


def show(found: Table, keys: int = 1) -> None:
    """Print a table that has rows; ``keys`` columns name one. Text stands in front of numbers."""
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
