"""A table of the report: its JSON, and the text of its cells on the page and in CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from merp.tools.common.table import fixed

MEASURED, MODELLED = "measured", "modelled"


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column.

    A row lists under ``errata`` the keys whose printed values are errata of the paper.

    Attributes:
        key: key of the rows' values.
        label, unit: its head.
        digits: decimals of a number; None for text.
        scale: divisor of the value on the page.
        basis: key under which a row says whether the number is measured; None if it is never
            measured.
    """

    key: str
    label: str
    unit: str = ""
    digits: int | None = None
    scale: float = 1
    basis: str | None = None

    def cell(self, row: Mapping[str, Any]) -> str:
        """Return the text of a cell on the page."""
        value = row.get(self.key)
        if value is None:
            return "-"
        if self.digits is None:
            return str(value)
        if isinstance(value, int) and self.scale == 1:
            return f"{value:,}"
        return fixed(value / self.scale, self.digits)


LAYER = Column(key="layer", label="layer")
PHASE = Column(key="phase", label="phase")


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows under a caption that names their count; the last ``totals`` rows are sums."""

    id: str
    title: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    totals: int = 0
    notes: Sequence[str] = field(default_factory=tuple)

    def json(self) -> dict[str, Any]:
        """Return rows and columns without rounding."""
        return {
            "id": self.id,
            "title": self.title,
            "caption": self.caption,
            "columns": [
                {
                    "key": column.key,
                    "label": column.label,
                    "unit": column.unit,
                    "digits": column.digits,
                    "scale": column.scale,
                    "basis": column.basis,
                }
                for column in self.columns
            ],
            "rows": [dict(row) for row in self.rows],
            "totals": self.totals,
            "notes": list(self.notes),
        }


def read_column(column: Mapping[str, Any]) -> Column:
    """Return the column of its JSON."""
    return Column(**column)


def as_csv(table: Mapping[str, Any]) -> str:
    """Return a table of the JSON as CSV: a head of keys, then the values of each row."""
    keys = [column["key"] for column in table["columns"]]
    keys += [c["basis"] for c in table["columns"] if c["basis"] and c["basis"] not in keys]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(keys)), extrasaction="ignore")
    writer.writeheader()
    writer.writerows(table["rows"])
    return text.getvalue()
