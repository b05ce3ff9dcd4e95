"""Comments of the Python source that belong to a process or an instance.

What stands in lines of its own right above the statement, in ASCII, goes along into VHDL. Private
to ``merp.hdl.conversion``.
"""

from __future__ import annotations

import ast
import linecache
import re
from functools import cache

_DIRECTIVE = re.compile(r"(noqa|type:|fmt:|mypy:|ruff:|pragma)")


def comments(file: str, line: int) -> tuple[str, ...]:
    """What is said of the statement that holds a line, without the marks.

    That is the comment right above it and, of a process, also those between its lines, of which
    MyHDL keeps nothing.
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
    """The first and the last line of the statement around each line.

    Of a function with decorators it is all of it, of any other statement the innermost.
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
