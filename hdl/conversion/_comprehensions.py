"""Find the comprehensions around a place of a function, and the variables that they bind.

Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import cache
from itertools import islice
from types import CodeType
from typing import NamedTuple

from merp.hdl.conversion.base.function_source import source_of, syntax_of

_BYTES = 2  # of an instruction


class _Extent(NamedTuple):
    """Place of an outermost comprehension, and the variables that it and inner ones bind."""

    start: tuple[int, int]  # line and column
    end: tuple[int, int]
    names: frozenset[str]


@cache
def bound_around(code: CodeType, instruction: int) -> frozenset[str]:
    """Return the variables of the list, set or dict comprehensions around a place of a function.

    All comprehensions in the same outermost one count. If a Python version gives comprehensions
    their own frames, only the place of the outermost one is known.

    Args:
        code: the code of the function. Without its source nothing is found.
        instruction: offset of the instruction, as ``f_lasti``.
    """
    line, _, column, _ = next(islice(code.co_positions(), instruction // _BYTES, None))
    if line is None:
        return frozenset()
    before, extents = _in_source(code)
    known = 1 if column is None else 2  # python -X no_debug_ranges keeps no columns
    place = (line - before, column or 0)[:known]
    around = (each.names for each in extents if each.start[:known] <= place <= each.end[:known])
    return frozenset().union(*around)


def _in_source(code: CodeType) -> tuple[int, tuple[_Extent, ...]]:
    """Return the lines before the text, and the comprehensions in it."""
    try:
        source = source_of(code)
        return source.before, _extents(source.as_it_is)
    except OSError:
        return 0, ()
    except SyntaxError:  # a lambda within a statement
        return 0, _extents("".join(linecache.getlines(code.co_filename)))


@cache
def _extents(text: str) -> tuple[_Extent, ...]:
    return tuple(_outermost(syntax_of(text)))


def _outermost(node: ast.AST) -> Iterator[_Extent]:
    """Yield the outermost comprehensions; a generator expression always has its own frame."""
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp):
        end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        yield _Extent((node.lineno, node.col_offset), end, frozenset(_bound(node)))
        return
    for child in ast.iter_child_nodes(node):
        yield from _outermost(child)


def _bound(node: ast.AST) -> Iterator[str]:
    for clause in ast.walk(node):
        if isinstance(clause, ast.comprehension):
            for each in ast.walk(clause.target):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    yield each.id
