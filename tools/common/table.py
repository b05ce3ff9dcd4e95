"""Tables for people: numbers right, text left, and no cell is ever cut.

In a file a table stands in one piece, and has the same lines whatever terminal there is. On a
terminal that is too narrow, its columns are dealt out to tables below each other, each with the
columns that name the row.
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
"""Characters that a column of text gets if it has them: fewer make a ladder of words."""
_NARROW = 16
"""And at least, where tables are below each other anyhow."""
_FRAME = 3
"""Characters that a column takes beside its cells; the frame's last one comes on top."""


def console(file: IO[str] | None = None) -> Console:
    """Return a console that prints text as it is, without markup; to ``file``, if there is one."""
    if file is None and sys.stdout.isatty():
        return Screen(markup=False, highlight=False)
    return Screen(file=file, force_terminal=False, markup=False, highlight=False, width=_FILE_WIDTH)


def say(line: str) -> None:
    """Print a line; on a terminal that is too narrow as several, broken between words."""
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
        """Characters that it takes with nothing wrapped."""
        return max(map(cell_len, (self.head, *self.cells)))

    @property
    def wrapped(self) -> int:
        """Those that it takes at least, if only text is wrapped."""
        words = (self.head, *self.cells)
        widest = max(cell_len(word) for text in words for word in text.split() or [""])
        return min(self.natural, max(_TEXT, widest)) if self.is_text else self.natural

    @property
    def least(self) -> int:
        """Those that it takes at least, if heads are wrapped and long words folded."""
        cells = [min(cell_len(cell), _NARROW) if self.is_text else cell_len(cell)
                 for cell in self.cells]  # fmt: skip
        return max(*map(cell_len, self.head.split() or [""]), *cells, 1)

    @property
    def unbroken(self) -> int:
        """Those that it takes at least, if heads and text are wrapped and no word is folded."""
        words = [self.head, *self.cells] if self.is_text else [self.head]
        numbers = [] if self.is_text else self.cells
        return max(map(cell_len, [*" ".join(words).split(), *numbers, " "]))


@dataclass(frozen=True)
class _Lines:
    """Cells of a column below each other, a line each, as wide as the column."""

    cells: Sequence[str]
    width: int
    right: bool

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """As wide as it is."""
        return Measurement(self.width, self.width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines."""
        for cell in self.cells:
            space = " " * (self.width - cell_len(cell))
            yield Segment(space + cell if self.right else cell + space)
            yield Segment.line()


def _width(widths: Iterable[int]) -> int:
    """Of a table with columns of such widths."""
    return sum(width + _FRAME for width in widths) + 1


@dataclass(frozen=True)
class Sheet:
    """A table that is laid out when it is printed; ``table`` makes it."""

    title: str
    columns: Sequence[_Column]
    keys: int
    bundles: Sequence[int]
    totals: int
    caption: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table, or those that it falls into."""
        least = _width(column.wrapped for column in self.columns)
        if not console.is_terminal or in_one_piece():
            room = max(options.max_width, _FILE_WIDTH, least)
            yield from console.render(self._grid(self.columns, room), options.update(width=room))
        elif least <= options.max_width:
            yield self._grid(self.columns, options.max_width)
        else:
            parts = list(self._parts(options.max_width))
            for index, part in enumerate(parts):
                room = max(options.max_width, _width(column.least for column in part))
                ends = {"first": index == 0, "last": index == len(parts) - 1}
                grid = self._grid(part, room, heads=True, **ends)
                keys, rest = part[: self.keys], part[self.keys :]
                if (
                    _width([*(key.natural for key in keys), *(each.unbroken for each in rest)])
                    <= room
                ):
                    for key in grid.columns[: self.keys]:
                        key.no_wrap = True  # others give way first
                yield from console.render(grid, options.update(width=room))

    def _parts(self, room: int) -> Iterator[list[_Column]]:
        """Deal the columns out; those that belong together stay so where they can."""
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

    def _grid(
        self, columns: Sequence[_Column], room: int, *, heads: bool = False, first: bool = True,
        last: bool = True,
    ) -> Table:  # fmt: skip
        """A table of some columns; ``heads`` are wrapped to the width of the cells.

        Where nothing else is wrapped in the ``room``, a column is one cell of many lines: the
        layout of a cell takes 0.1 ms, and a table may have thousands of rows.
        """
        grid = Table(
            title=Text(self.title) if first else None, title_justify="left",
            caption=Text(self.caption) if last else None, caption_justify="left",
        )  # fmt: skip
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
        title: above it. caption: below it.
        columns: heads. rows: a cell for each of them.
        text_columns: so many of the first are text, the others numbers.
        keys: so many of the first name a row.
        bundles: how many of the others belong together, in turn; each by itself where none.
        totals: so many of the last rows are sums.
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
    """Return ``value`` with ``digits`` decimals and thousands separated; a dash for None.

    A small value has more decimals, so that three digits always count.
    """
    if value is None:
        return "-"
    if 0 < value < 10 ** (2 - digits):
        digits = 2 - floor(log10(value))
    return f"{value:,.{digits}f}"
