"""Tables for people: numbers right, text left, the whole width when the output is a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor, log10

from rich.console import Console
from rich.table import Table
from rich.text import Text

_FILE_WIDTH = 160


def console() -> Console:
    """Return a console that prints text as it is, without markup."""
    screen = Console(markup=False, highlight=False)
    return (
        screen if screen.is_terminal else Console(markup=False, highlight=False, width=_FILE_WIDTH)
    )


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    text_columns: int = 1,
    totals: int = 0,
    caption: str = "",
) -> Table:
    """Return a table; the first ``text_columns`` are text, the last ``totals`` rows are sums."""
    grid = Table(title=Text(title), title_justify="left", caption=Text(caption))
    grid.caption_justify = "left"
    for index, column in enumerate(columns):
        left = index < text_columns
        grid.add_column(Text(column), justify="left" if left else "right", no_wrap=not left)
    cells = [[Text(cell) for cell in row] for row in rows]
    for index, row in enumerate(cells):
        grid.add_row(*row, end_section=index == len(cells) - totals - 1)
    return grid


def fixed(value: float | None, digits: int) -> str:
    """Return ``value`` with ``digits`` decimals and thousands separated; a dash for None.

    A small value has more decimals, so that three digits always count.
    """
    if value is None:
        return "-"
    if 0 < value < 10 ** (2 - digits):
        digits = 2 - floor(log10(value))
    return f"{value:,.{digits}f}"
