"""A table as a sequence of rows: plain dictionaries, a data frame, or HTML in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, overload

from merp.models.base.errors import BadInput
from merp.models.network.network import Layer

Row = Mapping[str, Any]


class Rows(Sequence[Row]):
    """Rows with the same keys, in their order on the page."""

    def __init__(self, title: str, rows: Iterable[Row]) -> None:
        self.title = title
        self._rows = tuple(rows)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        """Return a row, or a slice of rows."""
        return self._rows[index]

    def __repr__(self) -> str:
        """Return the title and the number of rows."""
        return f"<{self.title}: {len(self)} rows>"

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame`` of the rows.

        Raises:
            BadInput: pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise BadInput("to_pandas: pandas is not installed: pip install pandas") from error
        return pandas.DataFrame([dict(row) for row in self._rows])

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks."""
        keys = list(self._rows[0]) if self._rows else []
        head = "".join(f"<th>{escape(key)}</th>" for key in keys)
        body = "".join(
            "<tr>" + "".join(_cell(row[key]) for key in keys) + "</tr>" for row in self._rows
        )
        caption = f"<caption>{escape(self.title)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def layer_row(layer: Layer) -> Row:
    """Return the row of a layer: sizes of one group, operations of a phase, words of kernels."""
    shape = layer.shape
    return {
        "layer": layer.name,
        "kind": layer.kind,
        "groups": layer.groups,
        "n": shape.n,
        "rows": shape.rows,
        "columns": shape.columns,
        "m": shape.m,
        "k": shape.k,
        "operations": layer.operations(),
        "kernels": layer.kernels,
        "design": layer.design or "-",
    }


def _cell(value: Any) -> str:
    if value is None:
        return "<td>-</td>"
    if isinstance(value, int | float):
        text = f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
        return f'<td style="text-align: right">{text}</td>'
    return f"<td>{escape(str(value))}</td>"
