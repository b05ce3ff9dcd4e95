"""The source of a function, read once: its text, its place, its syntax, its names in order.

Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from types import CodeType
from typing import NamedTuple

from merp.hdl.conversion import internals


class FunctionSource(NamedTuple):
    """The text of a function without its indentation, and its place."""

    text: str
    file: str | None
    before: int  # lines of the file
    as_it_is: str  # with its indentation


def source_of(code: CodeType) -> FunctionSource:
    """The source of a function.

    Raises:
        OSError: there is none.
    """
    return _source(code.co_filename, code)


@cache
def _source(file: str, code: CodeType) -> FunctionSource:
    """``file`` is that of the code, which does not count where codes are compared."""
    lines, first = inspect.getsourcelines(code)
    return FunctionSource(
        internals.dedented("".join(lines)),
        inspect.getsourcefile(code),
        max(0, first - 1),  # of a module, inspect says 0
        "".join(lines),
    )


@cache
def syntax_of(text: str) -> ast.Module:
    """The syntax tree of a function with its indentation: lines from 1, columns of the file.

    Nobody may change it.

    Raises:
        SyntaxError: it is part of a statement, as a lambda may be.
    """
    if not text[:1].isspace():
        return ast.parse(text)
    tree = ast.parse(f"if True:\n{text}")
    return ast.Module([ast.increment_lineno(each, -1) for each in tree.body], [])


def names_in(code: CodeType) -> tuple[str, ...]:
    """The variables that a function's text names, in the order of their first places in it.

    The arguments come first. The compiled code is no source for this: each version of Python
    stores and keeps variables in an order of its own.
    """
    return _names(source_of(code).as_it_is)


@cache
def _names(text: str) -> tuple[str, ...]:
    found = (node for node in ast.walk(syntax_of(text)) if isinstance(node, ast.Name | ast.arg))
    places = sorted(found, key=lambda node: (node.lineno, node.col_offset))
    return tuple(
        dict.fromkeys(node.id if isinstance(node, ast.Name) else node.arg for node in places)
    )
