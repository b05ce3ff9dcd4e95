"""The source of a function, read once: its text, its place, its names in order.

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
        internals.dedented("".join(lines)), inspect.getsourcefile(code), first - 1
    )


def names_in(code: CodeType) -> tuple[str, ...]:
    """The variables that a function's text names, in the order of their first places in it.

    The arguments come first. The compiled code is no source for this: each version of Python
    stores and keeps variables in an order of its own.
    """
    return _names(source_of(code).text)


@cache
def _names(text: str) -> tuple[str, ...]:
    found = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name | ast.arg))
    places = sorted(found, key=lambda node: (node.lineno, node.col_offset))
    return tuple(
        dict.fromkeys(node.id if isinstance(node, ast.Name) else node.arg for node in places)
    )
