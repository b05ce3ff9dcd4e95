"""Find the comments of the Python source that belong to a process or an instance.

A comment is copied into VHDL if it is in ASCII, on its own lines, and directly above the
statement. Private to ``merp.hdl.conversion``.
"""

from __future__ import annotations

import ast
import linecache
import re
from functools import cache

_DIRECTIVE = re.compile(r"(noqa|type:|fmt:|mypy:|ruff:|pragma)")


def comments(file: str, line: int) -> tuple[str, ...]:
    """Return the comments on the statement that contains a line, without the marks.

    This is the comment directly above it. For a process, comments between its lines are included.
    MyHDL does not keep these comments.
    """
    lines = linecache.getlines(file)
    start, end = _extents(file, len(lines)).get(line, (line, line))
    first = start - 1
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    said = [text.strip() for text in lines[first:end]]
    texts = [text.lstrip("#").strip() for text in said if text.startswith("#")]
    return tuple(text for text in texts if text.isascii() and not _DIRECTIVE.match(text))


@cache
def _extents(file: str, count: int) -> dict[int, tuple[int, int]]:
    """Return the first and the last line of the statement around each line.

    For a function with decorators the statement is the whole function, otherwise the innermost one.
    """
    found: dict[int, tuple[int, int]] = {}
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return found
    for node in ast.walk(tree):  # outer statements first
        if not isinstance(node, ast.stmt):
            continue
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(each.lineno for each in decorators)])
        last = min(node.end_lineno or first, count)
        if decorators:
            found |= dict.fromkeys((first, node.lineno), (first, last))
        elif not isinstance(node, ast.FunctionDef | ast.For | ast.If | ast.With):
            found |= dict.fromkeys(range(first, last + 1), (first, last))
    return found
