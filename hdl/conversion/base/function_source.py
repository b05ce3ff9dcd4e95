"""Read the source of a function once: its text, its file and line, its syntax tree, its names.

Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from types import CodeType

from merp.hdl.conversion.base import internals

_INNER = ("body", "orelse", "handlers", "finalbody", "cases")
"""The fields of a statement that contain statements."""


@dataclass(frozen=True)
class FunctionSource:
    """The lines of a function, and its place.

    Attributes:
        lines: with their indentation.
        file: None if there is none.
        before: lines of the file before the function.
    """

    lines: Sequence[str]
    file: str | None
    before: int

    @cached_property
    def as_it_is(self) -> str:
        """The text with its indentation."""
        return "".join(self.lines)

    @cached_property
    def text(self) -> str:
        """The text without it, as MyHDL would parse it, except for columns."""
        text = self.as_it_is
        if any(each in text for each in ('"""', "'''", "\\\n")):  # a string may have several lines
            return internals.dedented(text)
        indentation = text[: len(text) - len(text.lstrip())]
        return "".join(line.removeprefix(indentation) for line in self.lines)


def source_of(code: CodeType) -> FunctionSource:
    """Return the source of a function.

    Raises:
        OSError: there is no source.
    """
    return _source(code.co_filename, code)


@cache
def _source(file: str, code: CodeType) -> FunctionSource:
    """Return the source; ``file`` is the code's file, which comparisons of codes ignore."""
    lines, first = _lines(file, code)
    # For a module, inspect returns line 0.
    return FunctionSource(lines, inspect.getsourcefile(code), max(0, first - 1))


def _lines(file: str, code: CodeType) -> tuple[list[str], int]:
    """Return the lines of a function, decorators included, and the number of the first.

    inspect reads each function's tokens in Python to find its end. The syntax tree of the file has
    the ends of all functions. Comments after the last statement are omitted.
    """
    linecache.checkcache(file)
    lines, first = linecache.getlines(file), code.co_firstlineno
    end = _ends("".join(lines)).get((first, code.co_name))
    return (lines[first - 1 : end], first) if end else inspect.getsourcelines(code)


@cache
def _ends(text: str) -> Mapping[tuple[int, str], int]:
    """Return the last line of each function of a file, by its first line and its name."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # not Python, or changed since it was loaded
        return {}
    return {(_first(node), node.name): node.end_lineno or 0 for node in _functions(tree.body)}


def _first(function: ast.FunctionDef) -> int:
    """Return the first line of a function, decorators included."""
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def _functions(statements: Iterable[ast.AST]) -> Iterator[ast.FunctionDef]:
    """Yield all functions in some statements; their expressions have none."""
    for each in statements:
        if isinstance(each, ast.FunctionDef):
            yield each
        for name in _INNER:
            yield from _functions(getattr(each, name, ()))


@cache
def syntax_of(text: str) -> ast.Module:
    """Return the syntax tree of a function with its indentation; lines from 1, columns of the file.

    The tree must not be changed.

    Raises:
        SyntaxError: it is part of a statement, such as a lambda.
    """
    if not text[:1].isspace():
        return ast.parse(text)
    tree = ast.parse(f"if True:\n{text}")
    return ast.Module([ast.increment_lineno(each, -1) for each in tree.body], [])


def names_in(code: CodeType) -> tuple[str, ...]:
    """Return the variables that a function's text names, in the order of their first places.

    The arguments come first. The compiled code is no source for this, because each version of
    Python stores variables in a different order.
    """
    return _names(source_of(code).as_it_is)


@cache
def _names(text: str) -> tuple[str, ...]:
    found = (node for node in ast.walk(syntax_of(text)) if isinstance(node, ast.Name | ast.arg))
    places = sorted(found, key=lambda node: (node.lineno, node.col_offset))
    return tuple(
        dict.fromkeys(node.id if isinstance(node, ast.Name) else node.arg for node in places)
    )
