"""Tables for people: numbers to the right, text to the left; no cell is cut.

In a file a table is in one piece, and its lines do not depend on the terminal. On a narrow terminal
its columns are split into several tables below each other. Each has the columns that name the row.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import floor, log10
from textwrap import fill
from typing import IO

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from merp.tools.common.screen import Screen
from merp.tools.common.wide import in_one_piece

_FILE_WIDTH = 160
_TEXT = 24
"""Characters that a text column may use before it wraps; fewer give one word per line."""
_NARROW = 16
"""The same limit, if a table is split into several."""
_CAPTION = 72
"""Characters in a line of a title or caption at least, if the terminal has them."""
_FRAME = 3
"""Characters of the frame per column; the frame has one more at its end."""


def console(file: IO[str] | None = None) -> Console:
    """Return a console that prints text without markup; to ``file``, if it is given."""
    if file is None and sys.stdout.isatty():
        return Screen(markup=False, highlight=False)
    return Screen(file=file, force_terminal=False, markup=False, highlight=False, width=_FILE_WIDTH)


def say(line: str) -> None:
    """Print a line. On a narrow terminal it is broken between words."""
    screen = console()
    screen.print(line, soft_wrap=not screen.is_terminal)


@dataclass(frozen=True)
class _Column:
    """A column of text or of numbers: its head and its cells."""

    is_text: bool
    head: str
    cells: Sequence[str]

    @property
    def natural(self) -> int:
        """Its width if nothing is wrapped."""
        return max(map(cell_len, (self.head, *self.cells)))

    @property
    def wrapped(self) -> int:
        """Its least width if only text is wrapped."""
        words = (self.head, *self.cells)
        widest = max(cell_len(word) for text in words for word in text.split() or [""])
        return min(self.natural, max(_TEXT, widest)) if self.is_text else self.natural

    @property
    def least(self) -> int:
        """Its least width if heads are wrapped and long words folded."""
        cells = [min(cell_len(cell), _NARROW) if self.is_text else cell_len(cell)
                 for cell in self.cells]  # fmt: skip
        return max(*map(cell_len, self.head.split() or [""]), *cells, 1)

    @property
    def unbroken(self) -> int:
        """Its least width if heads and text are wrapped and no word is folded."""
        words = [self.head, *self.cells] if self.is_text else [self.head]
        numbers = [] if self.is_text else self.cells
        return max(map(cell_len, [*" ".join(words).split(), *numbers, " "]))


@dataclass(frozen=True)
class _Lines:
    """Cells of a column below each other, one line each, with the width of the column."""

    cells: Sequence[str]
    width: int
    right: bool

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return the fixed width."""
        return Measurement(self.width, self.width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines."""
        for cell in self.cells:
            space = " " * (self.width - cell_len(cell))
            yield Segment(space + cell if self.right else cell + space)
            yield Segment.line()


def _width(widths: Iterable[int]) -> int:
    """Return the width of a table with columns of such widths."""
    return sum(width + _FRAME for width in widths) + 1


@dataclass(frozen=True)
class Sheet:
    """A table that is laid out when it is printed; ``table`` creates it."""

    title: str
    columns: Sequence[_Column]
    keys: int
    bundles: Sequence[int]
    totals: int
    caption: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the title, the table or the tables that it is split into, and the caption."""
        grids = list(self._grids(console, options))
        widths = [Measurement.get(console, options.update(width=room), grid).maximum
                  for grid, room in grids]  # fmt: skip
        around = options.update(width=min(max(*widths, _CAPTION), max(room for _, room in grids)))
        if self.title:
            yield from console.render(Text(self.title, style="italic"), around)
        for grid, room in grids:
            yield from console.render(grid, options.update(width=room))
        if self.caption:
            yield from console.render(Text(self.caption, style="dim italic"), around)

    def _grids(self, console: Console, options: ConsoleOptions) -> Iterator[tuple[Table, int]]:
        """The tables below each other, and the characters that each may take in a line."""
        least = _width(column.wrapped for column in self.columns)
        if not console.is_terminal or in_one_piece():
            room = max(options.max_width, _FILE_WIDTH, least)
            yield self._grid(self.columns, room), room
        elif least <= options.max_width:
            yield self._grid(self.columns, options.max_width), options.max_width
        else:
            for part in self._parts(options.max_width):
                room = max(options.max_width, _width(column.least for column in part))
                grid = self._grid(part, room, heads=True)
                keys, rest = part[: self.keys], part[self.keys :]
                if (
                    _width([*(key.natural for key in keys), *(each.unbroken for each in rest)])
                    <= room
                ):
                    for key in grid.columns[: self.keys]:
                        key.no_wrap = True  # others give way first
                yield grid, room

    def _parts(self, room: int) -> Iterator[list[_Column]]:
        """Split the columns into tables; bundles stay together if they fit."""
        keys, rest = list(self.columns[: self.keys]), list(self.columns[self.keys :])
        part = keys
        for size in self.bundles or [1] * len(rest):
            bundle, rest = rest[:size], rest[size:]
            fits = _width(each.least for each in (*keys, *bundle)) <= room
            for some in [bundle] if fits else [[each] for each in bundle]:
                if part != keys and _width(each.least for each in (*part, *some)) > room:
                    yield part
                    part = keys
                part = [*part, *some]
        yield part

    def _grid(self, columns: Sequence[_Column], room: int, *, heads: bool = False) -> Table:
        """Return a table of some columns; ``heads`` are wrapped to the width of the cells.

        If nothing else is wrapped in the ``room``, a column is one cell of many lines. The layout
        of a cell takes 0.1 ms, and a table may have thousands of rows.
        """
        grid = Table()
        said = [
            fill(column.head, column.least, break_long_words=False) if heads else column.head
            for column in columns
        ]
        for head, column in zip(said, columns, strict=True):
            grid.add_column(
                Text(head), justify="left" if column.is_text else "right",
                no_wrap=not column.is_text, overflow="fold",
            )  # fmt: skip
        widths = [
            max(map(cell_len, (*head.split("\n"), *column.cells)))
            for head, column in zip(said, columns, strict=True)
        ]
        ends = len(columns[0].cells) - self.totals
        lines = not any("\n" in cell for column in columns for cell in column.cells)
        if lines and _width(widths) <= room:
            for some in (slice(ends), slice(ends, None)):
                blocks = [
                    _Lines(column.cells[some], width, right=not column.is_text)
                    for column, width in zip(columns, widths, strict=True)
                ]
                if blocks[0].cells:
                    grid.add_row(*blocks, end_section=True)
            return grid
        for index, row in enumerate(zip(*(column.cells for column in columns), strict=True)):
            grid.add_row(*map(Text, row), end_section=index == ends - 1)
        return grid


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    text_columns: int = 1,
    keys: int = 1,
    bundles: Sequence[int] = (),
    totals: int = 0,
    caption: str = "",
) -> Sheet:
    """Return a table.

    Args:
        title: text above the table.
        columns: heads.
        rows: each has one cell per column.
        text_columns: number of columns, from the first, that are text; the others are numbers.
        keys: number of columns, from the first, that name a row.
        bundles: sizes of the groups of the other columns that stay together; without it, each
            column is alone.
        totals: number of rows at the end that are sums.
        caption: text below the table.
    """
    if bundles and sum(bundles) != len(columns) - keys:
        raise ValueError(f"{title}: bundles of {sum(bundles)} columns, not {len(columns) - keys}")
    cells = list(rows)
    made = [
        _Column(index < text_columns, head, [row[index] for row in cells])
        for index, head in enumerate(columns)
    ]
    return Sheet(title, made, keys, bundles, totals, caption)


def fixed(value: float | None, digits: int) -> str:
    """Return ``value`` with ``digits`` decimals and thousands separators; a dash for None.

    A small value has more decimals, so that three digits are significant.
    """
    if value is None:
        return "-"
    if 0 < value < 10 ** (2 - digits):
        digits = 2 - floor(log10(value))
    return f"{value:,.{digits}f}"
